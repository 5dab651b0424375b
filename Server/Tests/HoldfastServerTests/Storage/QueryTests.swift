import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

/// Every text of SQL in the sources of the server.
@Suite("Queries", .besidePostgres)
struct QueryTests {
    private static let sources = ServerProgram.url.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    /// The queries with the files in which they stand. Those of engines are theirs alone.
    private func queries() throws -> [(file: String, text: String)] {
        var queries: [(file: String, text: String)] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path).sorted()
        where path.hasSuffix(".swift") && !path.contains("/Storage/") {
            let source = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            for match in source.matches(of: /"""\n(?<long>(?:.|\n)*?)"""|"(?<short>(?:[^"\\\n]|\\.)*)"/) {
                let text = (match.long ?? match.short ?? "").replacing(/\\\n\s*/, with: "")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                // A fragment of a query is not checked.
                guard !text.contains(#"\("#),
                    text.firstMatch(of: /^(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) [a-zA-Z({]/) != nil
                else { continue }
                queries.append((path, text))
            }
        }
        return queries
    }

    private func rendered(_ text: String, _ dialect: Query.Dialect) -> String {
        [("now", dialect.now), ("lock", dialect.lock), ("skip", dialect.skip), ("blob", dialect.blob)]
            .reduce(text) { $0.replacing("{\($1.0)}", with: $1.1) }
    }

    @Test("Every query of the server is understood by SQLite and PostgreSQL alike")
    func understood() async throws {
        let queries = try queries()
        // Fewer would mean that they are no longer found.
        #expect(queries.count > 110)
        try await withFolder { folder in
            let sqlite = try SQLiteConnection(
                folder.appending(path: "server.db").path, clock: SystemWallClock())
            try SQLiteMigrations.run(on: sqlite)
            for query in queries {
                let count = query.text.matches(of: /\$(\d+)/).compactMap { Int($0.1) }.max() ?? 0
                do throws(ServerError) {
                    try sqlite.run(
                        text: "EXPLAIN " + rendered(query.text, SQLiteConnection.dialect),
                        [StorageValue](repeating: .null, count: count))
                } catch {
                    Issue.record("\(query.file): \(query.text): \(error)")
                }
            }
        }
        guard let address = try await StorageKind.remote.first?.address() else { return }
        let postgres = try PostgreSQLConnection(address, limits: .usual, clock: nil)
        try PostgreSQLMigrations.newest.run(on: postgres)
        let dialect = Query.Dialect(
            now: "CAST(1 AS bigint)", lock: "FOR UPDATE", skip: "SKIP LOCKED", blob: "BYTEA")
        for query in queries {
            do throws(ServerError) {
                try postgres.execute("PREPARE asked AS \(rendered(query.text, dialect))")
                try postgres.execute("DEALLOCATE asked")
            } catch {
                Issue.record("\(query.file): \(query.text): \(error)")
            }
        }
    }
}
