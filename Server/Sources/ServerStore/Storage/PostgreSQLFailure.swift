import ServerFoundation

/// Translates errors of PostgreSQL for the operator. Its own messages are not included: they may contain values of a
/// row.
enum PostgreSQLFailure {
    /// - Parameters:
    ///   - state: its SQLSTATE (Appendix A of PostgreSQL's documentation).
    ///   - name: the constraint or the table that it names, if one.
    static func error(state: String, about name: String? = nil) -> ServerError {
        let found = "SQLSTATE \(state)" + (name.map { " (\($0))" } ?? "")
        func error(_ code: ServerError.Code, _ expected: String, _ remedy: String? = nil) -> ServerError {
            ServerError(code, of: "database", expected: expected, found: found, remedy: remedy)
        }
        // Codes that are more specific than their class.
        switch state {
        // Space, for the database or for a file of it.
        case "53100": return error(.fullDatabase, "space for what is written")
        case "25006":
            return error(
                .readOnlyDatabase, "a database that can be written",
                "Name the primary, or wait until the database takes writes.")
        case "55P03", "40P01", "40001":
            return error(
                .lockedDatabase, "a turn to write within the time for it",
                "End the session that holds the database, such as a shell with an open transaction.")
        case "57014":
            return error(
                .lockedDatabase, "a statement that ends within the time for it",
                "Look at what else the database does (pg_stat_activity).")
        case "42501":
            return error(
                .readOnlyDatabase, "a role that may do this",
                "Make the role of the server the owner of its database, as docs/server/machines.md has it.")
        case "42804": return error(.constraint, "a value of the column's type")
        case "42P01", "42703":
            return error(.damagedDatabase, "the tables of holdfast-server", "Restore the last backup.")
        default: break
        }
        switch state.utf8.prefix(2).map({ UInt8($0) }) {
        case Array("08".utf8), Array("57".utf8), Array("53".utf8), Array("25".utf8):
            return unreachable(found)
        case Array("28".utf8), Array("3D".utf8):
            return ServerError(
                .unreachableDatabase, of: "database", expected: "a database that lets this server in", found: found,
                remedy: "Check the database's name, the role and its password.")
        case Array("22".utf8), Array("23".utf8): return error(.constraint, "a row that the rules of the database allow")
        case Array("XX".utf8), Array("58".utf8): return error(.damagedDatabase, "a database that is whole")
        default: return error(.database, "a statement that succeeds")
        }
    }

    /// The database does not answer, or no longer does; nothing of the transaction was committed.
    static func unreachable(_ found: String) -> ServerError {
        ServerError(
            .unreachableDatabase, of: "database", expected: "an answer of the database",
            found: "\(found); nothing of the transaction was written")
    }

    /// The error for a connection that broke during a commit, with an unknown outcome.
    static let inDoubt = ServerError(
        .commitInDoubt, of: "database", expected: "an answer to the commit",
        found: "a connection that broke before it; the transaction may have been written, all of it or nothing")
}
