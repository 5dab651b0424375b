/// Waits until a condition is true, and checks it again after a short rest: a loop without one takes the processor from
/// the awaited work.
///
/// A task that is canceled throws, so that the time limit of a test ends it.
package func waitUntil(_ holds: () throws -> Bool) async throws {
    while try !holds() { try await Task.sleep(for: .milliseconds(2)) }
}
