#if os(macOS) || os(Linux)
import Foundation
import Holdfast

/// The tests of this process that were skipped because this machine lacks a program, or something else.
///
/// When the process ends, it writes how many they are, which, and the commands that install the programs: the last lines
/// of a test run, where they are seen.
package enum SkippedTests {
    /// The most tests that are named.
    private static let maximumNames = 100
    private static let noted = Lock<[ForeignProgram: Set<String>]>([:])

    /// Notes a test. The first one arranges for the report at the end of the process.
    package static func note(_ test: String, missing program: ForeignProgram) {
        let isFirst = noted.withLock { noted in
            defer { noted[program, default: []].insert(test) }
            return noted.isEmpty
        }
        if isFirst { atexit { SkippedTests.report() } }
    }

    private static func report() {
        let lines = lines(about: noted.withLock { $0 }, isDarwin: isDarwin)
        try? FileHandle.standardError.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    private static var isDarwin: Bool {
        #if canImport(Darwin)
        true
        #else
        false
        #endif
    }

    /// The report: the number of tests, what they need, their names, and the commands that install programs.
    package static func lines(about noted: [ForeignProgram: Set<String>], isDarwin: Bool) -> [String] {
        let programs = noted.keys.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
        let tests = noted.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        guard !tests.isEmpty else { return [] }
        let needs = programs.map { "\($0.name) (\(noted[$0]?.count ?? 0))" }
        let number = tests.count == 1 ? "1 test was" : "\(tests.count) tests were"
        var packages: Set<String> = []
        var commands: [String] = []
        var settings: Set<String> = []
        for program in programs {
            switch program.installation {
            case .packages(let debian, let homebrew): packages.formUnion(isDarwin ? homebrew : debian)
            case .script(let script): commands.append(script)
            case .setting(let variable): settings.insert("export \(variable)=FOLDER")
            case .included, .machine: break
            }
        }
        if !packages.isEmpty {
            let names = packages.sorted().joined(separator: " ")
            commands.insert(isDarwin ? "brew install \(names)" : "sudo apt-get install -y \(names)", at: 0)
        }
        let names = tests.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        var lines = ["\(number) skipped, because this machine lacks: \(needs.joined(separator: ", "))."]
        lines += names.prefix(maximumNames).map { "  \($0)" }
        if names.count > maximumNames { lines.append("  and \(names.count - maximumNames) more") }
        if !commands.isEmpty {
            lines += ["To run \(tests.count == 1 ? "it" : "them"), install the programs:"] + commands.map { "  \($0)" }
        }
        if !settings.isEmpty {
            lines.append("Data that may not be published is in a folder that you name, or in ../shared/data:")
            lines += settings.sorted().map { "  \($0)" }
        }
        return lines
    }
}
#endif
