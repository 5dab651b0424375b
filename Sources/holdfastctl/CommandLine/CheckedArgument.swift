import ArgumentParser

/// An argument whose value is read at once, but whose errors the verb reports. The parser would print a value that it
/// refuses exactly as it was typed, and a URL may contain a password, or a key of the wrong kind the secret itself.
struct CheckedArgument<Value: Sendable>: Sendable {
    private let result: Result<Value, any Error>

    init(_ read: () throws -> Value) {
        result = Result(catching: read)
    }

    /// The value; nil if it could not be read. In that case the verb ends in ``validate(_:)``.
    var value: Value? { try? result.get() }

    func get() throws(CommandFailure) -> Value {
        guard let value else { throw CommandFailure(.wrongUsage, "an argument cannot be read") }
        return value
    }

    /// - Parameter name: the argument's name for messages.
    func validate(_ name: String) throws(ValidationError) {
        if case .failure(let error) = result { throw ValidationError("\(name): \(error)") }
    }
}
