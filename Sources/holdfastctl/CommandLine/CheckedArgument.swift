import ArgumentParser

/// An argument whose value is read at once and judged by the verb. The parser prints every value that it refuses as it
/// was typed, and a URL may hold a password, a key of the wrong kind the secret itself.
struct CheckedArgument<Value: Sendable>: Sendable {
    private let result: Result<Value, any Error>

    init(_ read: () throws -> Value) {
        result = Result(catching: read)
    }

    /// nil where it could not be read, which ends a verb in ``validate(_:)``.
    var value: Value? { try? result.get() }

    func get() throws(CommandFailure) -> Value {
        guard let value else { throw CommandFailure(.wrongUsage, "an argument cannot be read") }
        return value
    }

    /// - Parameter name: as messages call the argument.
    func validate(_ name: String) throws(ValidationError) {
        if case .failure(let error) = result { throw ValidationError("\(name): \(error)") }
    }
}
