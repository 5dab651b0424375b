/// How long a database of PostgreSQL may take, and how much is asked of it at once.
struct PostgreSQLLimits: Sendable {
    /// For the turn among writers.
    var turn: Duration = .seconds(5)
    /// For one statement.
    var statement: Duration = .seconds(30)
    /// For the next statement of a transaction that is open, before the database ends it: what stopped in the middle must
    /// not hold up everybody else for longer.
    var idle: Duration = .seconds(30)
    /// Beyond the limit of a statement, for the database to say so before its connection counts as broken.
    var grace: Duration = .seconds(5)
    /// For a connection that is free.
    var connection: Duration = .seconds(30)
    /// Transactions that read at once; one more writes.
    var readers = 4

    /// What servers have.
    static let usual = PostgreSQLLimits()

    /// The same for a step to newer tables, which may copy all rows of a table.
    var forSteps: PostgreSQLLimits {
        var limits = self
        limits.statement = .seconds(3_600)
        return limits
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
