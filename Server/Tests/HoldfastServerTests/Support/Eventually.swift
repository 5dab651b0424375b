import Foundation
import Testing

/// Looks again and again, with a short rest in between, until something holds.
/// - Parameters:
///   - limit: how long it may take; longer than any test waits on a machine that does much else.
///   - words: what is said if it never holds.
func eventually(
    within limit: Duration = ServingProcess.usualLimit, _ words: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation, _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while !(try await holds()) {
        guard ContinuousClock.now < end else {
            Issue.record("not within \(limit): \(words())", sourceLocation: sourceLocation)
            throw ServingProcess.Ended(description: "not within \(limit): \(words())")
        }
        try await Task.sleep(for: .milliseconds(25))
    }
}
