import Holdfast
import HoldfastTesting
import Testing

/// Keeps what published calls log, which take no logger, from the log of the test run.
struct QuietLog: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await PolicyLog.$shared.withValue(RecordingLog().policyLog) { try await function() }
    }
}

extension Trait where Self == QuietLog {
    static var quietLog: Self { Self() }
}
