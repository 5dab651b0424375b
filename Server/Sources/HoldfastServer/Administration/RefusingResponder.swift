/// Answers calls of people and their tools, and says what the rest of the server refuses as the administration's listener
/// says it.
protocol RefusingResponder {}

extension RefusingResponder {
    /// Does something of the server, and says what it refuses.
    func refusing<Value>(
        _ body: () async throws(ServerError) -> Value
    ) async throws(AdministrationError) -> Value {
        do throws(ServerError) {
            return try await body()
        } catch {
            throw AdministrationError(error)
        }
    }

    /// The same for what waits for nothing.
    func reading<Value>(_ body: () throws(ServerError) -> Value) throws(AdministrationError) -> Value {
        do throws(ServerError) {
            return try body()
        } catch {
            throw AdministrationError(error)
        }
    }
}
