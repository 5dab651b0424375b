#if os(macOS) || os(Linux)
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Skips tests if a program is missing that they talk to, or something else of the machine, and has the end of the run
/// say so, with what installs the program.
///
/// Other test targets have this file by a symbolic link: only a test target can import Testing everywhere.
struct NeedsForeignProgram: SuiteTrait, TestTrait {
    let program: ForeignProgram
    let isRecursive = true

    func prepare(for test: Test) async throws {
        if !program.runsTests, !test.isSuite {
            SkippedTests.note("\(test.sourceLocation.fileID): \(test.displayName ?? test.name)", missing: program)
        }
        let condition: ConditionTrait = .enabled(if: program.runsTests, "needs \(program.name)")
        try await condition.prepare(for: test)
    }
}

extension ForeignProgram {
    /// Whether the part of a test runs that needs it. If not, the end of the run names the test.
    func runsPart(of test: Test? = .current) -> Bool {
        if !runsTests, let test {
            SkippedTests.note("\(test.sourceLocation.fileID): \(test.displayName ?? test.name), in part", missing: self)
        }
        return runsTests
    }
}

extension Trait where Self == NeedsForeignProgram {
    static func needs(_ program: ForeignProgram) -> Self { NeedsForeignProgram(program: program) }
}
#endif
