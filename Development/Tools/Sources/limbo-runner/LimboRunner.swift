public import ArgumentParser
import Foundation
public import Holdfast
import LimboCases

/// Runs conformance cases and prints how Holdfast's answers compare. For Holdfast's own developers.
@main
struct LimboRunner: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limbo-runner",
        abstract: "Run x509-limbo cases against Holdfast's path validation.",
        discussion: """
            Prints the totals, every difference, and the slowest cases. Exits with 1 if a case took longer than \
            --budget-ms, 2 on wrong usage, 3 if a file cannot be read.
            """)

    @Argument(help: "Files in the format of C2SP x509-limbo.", completion: .file(extensions: ["json"]))
    var files: [String]

    @Option(help: "The rules to keep: \(ValidationProfile.allCases.map(\.rawValue).joined(separator: ", ")).")
    var profile = ValidationProfile.standard

    @Option(
        help: "The time of cases that name none, as ISO 8601; the present by default.",
        transform: { text in
            guard let time = try? Date.ISO8601FormatStyle().parse(text) else {
                throw ValidationError("\(text) is no time such as 2027-01-31T12:00:00Z")
            }
            return time
        })
    var at: Date?

    @Option(help: "A public suffix list (publicsuffix.org); --profile strict allows no wildcard above a suffix.")
    var publicSuffixes: String?

    @Flag(help: "Refuse certificates whose status no revocation list of the case tells.")
    var requireRevocation = false

    @Option(
        help: "The acceptable certificate policies, as object identifiers with commas between them; any by default.",
        transform: Self.policies)
    var policies: Set<String>?

    @Flag(help: "Ask for a path that is valid for an acceptable policy.")
    var requireExplicitPolicy = false

    @Flag(help: "Let anyPolicy in a certificate stand for nothing.")
    var inhibitAnyPolicy = false

    @Flag(help: "Let no authority map another's policies to its own.")
    var inhibitPolicyMapping = false

    @Option(help: "How many of the slowest cases to print.")
    var slowest = 5

    @Option(help: "Fail if a case takes longer than this many milliseconds, the fastest of three runs counted.")
    var budgetMs: Double?

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            // The library would exit with 64.
            FileHandle.standardError.write(Data("\(fullMessage(for: error))\n".utf8))
            Foundation.exit(2)
        }
    }

    mutating func run() throws {
        let time = at ?? SystemWallClock().now
        let suffixes = try publicSuffixes.map { path in
            try read(path) { try PublicSuffixList(String(contentsOf: $0, encoding: .utf8)) }
        }
        var totals: [LimboOutcome.Comparison: Int] = [:]
        var skipped = 0
        var times: [(id: String, duration: Duration)] = []
        for file in files {
            let suite = try read(file) { try LimboSuite(contentsOf: $0) }
            for testcase in suite.testcases {
                var fastest = Duration.seconds(3_600)
                var outcome: LimboOutcome?
                do {
                    for _ in 0..<3 {
                        let clock = ContinuousClock()
                        let start = clock.now
                        outcome = try testcase.run(
                            profile: profile, publicSuffixes: suffixes, requiresRevocation: requireRevocation,
                            certificatePolicies: certificatePolicies, defaultTime: time)
                        fastest = min(fastest, start.duration(to: clock.now))
                    }
                } catch {
                    skipped += 1
                    print("skipped       \(testcase.id): \(error)")
                }
                guard let outcome else { continue }
                totals[outcome.comparison, default: 0] += 1
                times.append((testcase.id, fastest))
                guard outcome.comparison != .pass else { continue }
                let reason = outcome.failure.map { ": \($0.code.rawValue), expected \($0.expected), found \($0.found)" }
                let name = outcome.comparison == .falseAccept ? "false accept " : "false reject "
                print("\(name) \(testcase.validationKind.rawValue) \(testcase.id)\(reason ?? "")")
            }
        }
        times.sort { $0.duration > $1.duration }
        for one in times.prefix(slowest) {
            print("slow \(milliseconds(one.duration)) ms  \(one.id)")
        }
        print(
            "\(totals[.pass] ?? 0) pass, \(totals[.falseAccept] ?? 0) false accept, "
                + "\(totals[.falseReject] ?? 0) false reject, \(skipped) skipped")
        if let budgetMs, let first = times.first, first.duration > .microseconds(Int64(budgetMs * 1_000)) {
            FileHandle.standardError.write(Data("limbo-runner: \(first.id) took longer than \(budgetMs) ms\n".utf8))
            throw ExitCode(1)
        }
    }

    private func read<Content>(_ path: String, _ body: (URL) throws -> Content) throws -> Content {
        do {
            return try body(URL(fileURLWithPath: path))
        } catch {
            FileHandle.standardError.write(Data("limbo-runner: \(path): \(error)\n".utf8))
            throw ExitCode(3)
        }
    }

    private var certificatePolicies: CertificatePolicies {
        CertificatePolicies(
            acceptable: policies, requiresExplicitPolicy: requireExplicitPolicy,
            inhibitsPolicyMapping: inhibitPolicyMapping, inhibitsAnyPolicy: inhibitAnyPolicy)
    }

    private static func policies(_ text: String) throws -> Set<String> {
        let policies = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        if let odd = policies.first(where: { $0.wholeMatch(of: /[0-2](\.[0-9]+)+/) == nil }) {
            throw ValidationError("\(odd) is no object identifier such as 2.23.140.1.1")
        }
        return Set(policies)
    }

    private func milliseconds(_ duration: Duration) -> String {
        String(format: "%.2f", duration / .milliseconds(1))
    }
}

extension ValidationProfile: @retroactive ExpressibleByArgument {}
