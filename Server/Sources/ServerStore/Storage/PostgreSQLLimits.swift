/// The time limits for a database of PostgreSQL, and the number of its connections.
package struct PostgreSQLLimits: Sendable {
    /// For waiting until no other transaction writes.
    var turn: Duration = .seconds(5)
    /// For one statement.
    var statement: Duration = .seconds(30)
    /// For the next statement of an open transaction, before the database ends it: a stalled transaction must not block
    /// all others for longer.
    var idle: Duration = .seconds(30)
    /// In addition to that of a statement, for the database to report the timeout before its connection is considered
    /// broken.
    var grace: Duration = .seconds(5)
    /// For waiting until a connection is free.
    var connection: Duration = .seconds(30)
    /// The number of concurrent transactions that read; one more writes.
    var readers = 4

    /// The limits of servers.
    static let usual = PostgreSQLLimits()

    /// The limits for a migration, which may copy all rows of a table.
    var forSteps: PostgreSQLLimits {
        var limits = self
        limits.statement = .seconds(3_600)
        return limits
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
