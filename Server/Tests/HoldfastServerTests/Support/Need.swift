import Foundation
import Synchronization
import Testing

/// Something of the machine without which a test is skipped.
struct Need: Sendable {
    let name: String
    /// The command that installs it; nil for an address or a right, which the machine has or not.
    let command: String?
    /// Whether tests with it run: it is there, or `HOLDFAST_REQUIRE_FOREIGN_PEERS` is 1. In the second case a test that
    /// does not find it fails.
    let isMet: Bool

    private init(_ name: String, _ isMet: Bool, from command: String? = "sudo scripts/foreign-programs") {
        (self.name, self.command, self.isMet) = (name, command, isMet)
    }
}

extension Need {
    static let acmeHost = Need("certbot, pebble, nginx, curl and openssl", ACMEHost.isTested)
    static let addressBeyondLoopback = Need(
        "an address beyond loopback", CanaryWayTests.reachable != nil, from: nil)
    static let browser = Need("chromium and Playwright", Browser.isTested, from: "scripts/python browser")
    static let cryptography = Need(
        "python3 with cryptography", ForeignProgram.areRequired || VerifyingSigner.hasCryptography)
    static let faketime = Need("faketime", WrongClock.isTested)
    static let foreignPeers = Need("python3, nginx, curl and openssl", ForeignPeers.areTested)
    static let holdfastctl = Need("holdfastctl", ManualDesk.isTested, from: "swift build --product holdfastctl")
    static let mounting = Need("the right to mount", DyingTests.canMount, from: nil)
    static let pgBouncer = Need("PostgreSQL and pgbouncer", PgBouncer.isTested)
    static let postgreSQL = Need("PostgreSQL's initdb, postgres and psql", PostgresServer.isTested)
    static let s3Tools = Need("moto and aws", S3Place.isTested, from: "scripts/python s3")
    static let pythonTUF = Need("python-tuf", TUFPython.isTested, from: "scripts/python tuf")
    static let softToken = Need("opensc and softhsm2", SoftToken.isTested)
    static let softWebAuthn = Need("soft-webauthn", SoftWebAuthn.isTested, from: "scripts/python webauthn")
    static let turnedClock = Need("faketime and cc", TurnedClock.isTested)
    static let verifyingSigner = Need("python3 with cryptography, and faketime", VerifyingSigner.isTested)

    static func program(_ name: String) -> Need { Need(name, ForeignProgram.isTested(name)) }

    /// Whether the part of a test runs that needs it. If not, the end of the run names the test.
    func runsPart(of test: Test? = .current) -> Bool {
        if !isMet, let test {
            SkippedTests.note("\(test.sourceLocation.fileID): \(test.displayName ?? test.name), in part", missing: self)
        }
        return isMet
    }
}

/// Skips tests if something is missing that they need, and has the end of the run say so, with what installs it.
struct NeedTrait: SuiteTrait, TestTrait {
    let needs: [Need]
    let isRecursive = true

    func prepare(for test: Test) async throws {
        let missing = needs.filter { !$0.isMet }
        if !test.isSuite {
            for need in missing {
                SkippedTests.note("\(test.sourceLocation.fileID): \(test.displayName ?? test.name)", missing: need)
            }
        }
        let names = missing.map(\.name).joined(separator: ", and ")
        let condition: ConditionTrait = .enabled(if: missing.isEmpty, "needs \(names)")
        try await condition.prepare(for: test)
    }
}

extension Trait where Self == NeedTrait {
    static func needs(_ needs: Need...) -> Self { NeedTrait(needs: needs) }
}

/// The tests of this process that were skipped because this machine lacks something, as those of the root package: the last
/// lines of a run say how many they are, which, and the commands that install what they need.
enum SkippedTests {
    /// The missing needs, by name, with the command that installs each and the tests that need it.
    typealias Noted = [String: (command: String?, tests: Set<String>)]

    private static let maximumNames = 100
    private static let noted = Mutex<Noted>([:])

    /// Notes a test. The first one arranges for the report at the end of the process.
    static func note(_ test: String, missing need: Need) {
        let isFirst = noted.withLock { noted in
            defer { noted[need.name, default: (need.command, [])].tests.insert(test) }
            return noted.isEmpty
        }
        if isFirst { atexit { SkippedTests.report() } }
    }

    private static func report() {
        let text = lines(about: noted.withLock(\.self)).map { "\($0)\n" }.joined()
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// The report: the number of tests, what they need, their names, and the commands.
    static func lines(about noted: Noted) -> [String] {
        let tests = noted.values.reduce(into: Set<String>()) { $0.formUnion($1.tests) }
        guard !tests.isEmpty else { return [] }
        let needs = noted.map { "\($0.key) (\($0.value.tests.count))" }.sorted()
        let number = tests.count == 1 ? "1 test was" : "\(tests.count) tests were"
        var lines = ["\(number) skipped, because this machine lacks: \(needs.joined(separator: ", "))."]
        lines += tests.sorted().prefix(maximumNames).map { "  \($0)" }
        if tests.count > maximumNames { lines.append("  and \(tests.count - maximumNames) more") }
        let commands = Set(noted.values.compactMap(\.command)).sorted()
        if !commands.isEmpty {
            lines.append("To run \(tests.count == 1 ? "it" : "them"), in the folder of the repository:")
            lines += commands.map { "  \($0)" }
        }
        return lines
    }
}
