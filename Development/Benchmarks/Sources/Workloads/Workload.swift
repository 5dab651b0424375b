/// One operation that is measured by being repeated.
public struct Workload: Sendable {
    /// The kind of time that is measured.
    public enum Clock: Sendable {
        /// The time that this process ran: other work on the machine hardly affects it. For one thread's work.
        case processor
        /// The elapsed time: for work that waits, uses several cores, or runs in another process.
        case wall
    }

    /// The name in tables.
    public let name: String
    /// The kind of time that is measured.
    public let clock: Clock
    /// Restores the state in which the operation begins, which is not measured. If it is set, it runs before every
    /// operation.
    public let prepare: (@Sendable () async throws -> Void)?
    /// Repeats the operation this number of times.
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

/// An error of a workload that did not do the work to be measured.
public struct WorkloadError: Error, CustomStringConvertible {
    /// The problem.
    public let description: String

    /// Makes an error with a description of the problem.
    public init(_ description: String) { self.description = description }
}

/// Prevents the optimizer from removing work whose result is not used.
@inline(never)
public func consume<Value>(_ value: borrowing Value) {}

/// Throws unless the condition holds: figures of work that was not done are worse than no figures.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(WorkloadError) {
    guard condition else { throw WorkloadError(what()) }
}
