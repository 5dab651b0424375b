/// One operation that is measured by being repeated.
public struct Workload: Sendable {
    /// What its time is.
    public enum Clock: Sendable {
        /// The time that this process ran: what others do on the machine meanwhile hardly shows. For one thread's work.
        case processor
        /// The time that passed: for what waits, works on several cores, or runs in another process.
        case wall
    }

    /// What a table calls it.
    public let name: String
    /// What its time is.
    public let clock: Clock
    /// Puts things back to where the operation begins, which is not measured. Where there is one, nothing is done twice
    /// without it.
    public let prepare: (@Sendable () async throws -> Void)?
    /// Does it so many times, one after the other.
    public let run: @Sendable (_ times: Int) async throws -> Void

    /// An operation that repeats itself.
    public init(
        _ name: String, clock: Clock = .processor, prepare: (@Sendable () async throws -> Void)? = nil,
        repeating run: @escaping @Sendable (_ times: Int) async throws -> Void
    ) {
        self.name = name
        self.clock = clock
        self.prepare = prepare
        self.run = run
    }

    /// An operation.
    public init(_ name: String, clock: Clock = .processor, once: @escaping @Sendable () throws -> Void) {
        self.init(name, clock: clock, repeating: { times in for _ in 0..<times { try once() } })
    }
}

/// A workload did something else than what it is meant to measure.
public struct WorkloadError: Error, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    /// States what went wrong.
    public init(_ description: String) { self.description = description }
}

/// Keeps the optimizer from leaving out work whose result nobody reads.
@inline(never)
public func consume<Value>(_ value: borrowing Value) {}

/// Throws unless the condition holds: figures of work that was not done are worse than none.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(WorkloadError) {
    guard condition else { throw WorkloadError(what()) }
}
