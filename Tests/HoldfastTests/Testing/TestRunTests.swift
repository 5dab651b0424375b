import Foundation
import HoldfastTestSupport
import HoldfastTesting
import TestRunDefaults
import Testing

@Suite("A run of these tests", .timeLimit(.minutes(15)))
struct TestRunTests {
    private static let variable = unsafe String(cString: holdfast_tests_at_once_variable)

    @Test("A number of tests at once is set before the first one begins")
    func testsAtOnce() throws {
        let number = try #require(ProcessInfo.processInfo.environment[Self.variable])
        #expect(number.isEmpty || Int(number) != nil, "\(number)")
    }

    #if os(macOS) || os(Linux)
    #if os(Linux)
    /// Runs this process's own program with other tests, the way `swift test` does, and without a number of tests at
    /// once.
    private func run(_ filter: String, environment: [String: String] = [:]) async throws -> CommandRun {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try await CommandRun.run(
            URL(filePath: "/usr/bin/env"),
            ["-u", Self.variable, program, "--testing-library", "swift-testing", "--filter", filter],
            environment: environment, limit: .seconds(600))
    }

    @Test("Where the environment has no number, the tests have one all the same")
    func withoutNumber() async throws {
        let run = try await run("HoldfastTests.TestRunTests/testsAtOnce")
        #expect(run.status == 0 && (run.output + run.errors).contains(" 1 test "), "\(run.output)\(run.errors)")
    }

    @Test("It says at its end which tests were skipped for want of a program, how many, and what installs that")
    func skipped() async throws {
        let run = try await run(
            "HoldfastTests.CMSOpenSSLTests", environment: ["PATH": "/nowhere", "HOLDFAST_REQUIRE_FOREIGN_PEERS": "0"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let lines = run.errors.split(separator: "\n").drop { !$0.contains(" skipped, because this machine lacks: ") }
        #expect(lines.first?.contains(" tests were skipped, because this machine lacks: OpenSSL 3 (") == true)
        let names = lines.dropFirst().filter { $0.hasPrefix("  HoldfastTests/CMSOpenSSLTests.swift: ") }
        #expect(names.count > 1 && lines.first?.hasPrefix("\(names.count) tests") == true, "\(run.errors)")
        #expect(lines.last == "  sudo apt-get install -y openssl", "\(run.errors)")
    }

    @Test("It says nothing of the kind if all programs are there")
    func nothingSkipped() async throws {
        let run = try await run("HoldfastTests.SmallDictionaryTests")
        #expect(run.status == 0 && !run.errors.contains("skipped, because"), "\(run.output)\(run.errors)")
    }
    #endif

    @Test("The report counts each test once, and has one command for all packages")
    func report() {
        let one = ForeignProgram("b", .packages(debian: ["b1", "b2"], homebrew: ["b"]), runsTests: false)
        let two = ForeignProgram("a", .packages(debian: ["b1", "a"], homebrew: ["a"]), runsTests: false)
        let script = ForeignProgram("c", .script("scripts/python tuf"), runsTests: false)
        let included = ForeignProgram("d", .included, runsTests: false)
        #expect(SkippedTests.lines(about: [:], isDarwin: false).isEmpty)
        #expect(
            SkippedTests.lines(about: [one: ["x"]], isDarwin: false) == [
                "1 test was skipped, because this machine lacks: b (1).", "  x", "To run it, install the programs:",
                "  sudo apt-get install -y b1 b2",
            ])
        let noted: [ForeignProgram: Set<String>] = [one: ["x", "y"], two: ["x"], script: ["z"], included: ["u"]]
        #expect(
            SkippedTests.lines(about: noted, isDarwin: false) == [
                "4 tests were skipped, because this machine lacks: a (1), b (2), c (1), d (1).", "  u", "  x", "  y",
                "  z", "To run them, install the programs:", "  sudo apt-get install -y a b1 b2",
                "  scripts/python tuf",
            ])
        #expect(
            SkippedTests.lines(about: noted, isDarwin: true).suffix(2) == [
                "  brew install a b", "  scripts/python tuf",
            ])
        #expect(SkippedTests.lines(about: [included: ["u"]], isDarwin: false).count == 2)
        let address = ForeignProgram("::1", .machine, runsTests: false)
        #expect(
            SkippedTests.lines(about: [address: ["u"]], isDarwin: false) == [
                "1 test was skipped, because this machine lacks: ::1 (1).", "  u",
            ])
        let data = ForeignProgram("limbo.json", .setting("HOLDFAST_INTEROP_DATA"), runsTests: false)
        #expect(
            SkippedTests.lines(about: [data: ["u"]], isDarwin: false) == [
                "1 test was skipped, because this machine lacks: limbo.json (1).", "  u",
                "Data that may not be published is in a folder that you name, or in ../shared/data:",
                "  export HOLDFAST_INTEROP_DATA=FOLDER",
            ])
        let many = SkippedTests.lines(about: [one: Set((0..<123).map(String.init))], isDarwin: false)
        #expect(many.contains("  and 23 more") && many.count == 1 + 100 + 1 + 2)
    }
    #endif
}
