import ServerFoundation

/// A responder for administrators and browsers that reports errors of the server in the form of the administration
/// listener.
protocol RefusingResponder {}

extension RefusingResponder {
    /// Runs an operation, and converts its error.
    func refusing<Value>(
        _ body: () async throws(ServerError) -> Value
    ) async throws(AdministrationError) -> Value {
        do throws(ServerError) {
            return try await body()
        } catch {
            throw AdministrationError(error)
        }
    }

    /// Runs a synchronous operation, and converts its error.
    func reading<Value>(_ body: () throws(ServerError) -> Value) throws(AdministrationError) -> Value {
        do throws(ServerError) {
            return try body()
        } catch {
            throw AdministrationError(error)
        }
    }
}
