import ArgumentParser

/// An argument whose value is read at once, but whose errors the verb reports. The parser would print an invalid value
/// exactly as typed, and it may contain a URL's password, or the secret of a key.
struct CheckedArgument<Value: Sendable>: Sendable {
    private let result: Result<Value, any Error>

    init(_ read: () throws -> Value) {
        result = Result(catching: read)
    }

    /// The value; nil if it could not be read. In that case the verb ends in ``validate(_:)`` or ``get()``.
    var value: Value? { try? result.get() }

    func get() throws(CommandFailure) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error as CommandFailure): throw error
        case .failure: throw CommandFailure(.wrongUsage, "an argument cannot be read")
        }
    }

    /// A file that cannot be read is no mistake of the command line: ``get()`` reports it.
    /// - Parameter name: the argument's name for messages.
    func validate(_ name: String) throws(ValidationError) {
        guard case .failure(let error) = result, (error as? CommandFailure)?.status != .couldNotFindOut else { return }
        throw ValidationError("\(name): \(error)")
    }
}
