import ArgumentParser
import Foundation
import Holdfast
import HoldfastServer
import PinPublication

/// Moves a server to a database of PostgreSQL.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Move a server from its folder to a PostgreSQL database.",
        discussion: """
            Stop serve first. Everything is copied in one transaction, counted, and its audit verified. The secret stays \
            where it is. The old folder keeps its data, and is marked so that no server starts there anymore.

            EXAMPLE
              holdfast-server migrate --from /srv/pins --data /srv/pins-pg \\
                --database postgresql://holdfast@/pins?host=/run/postgresql
            """)

    @Option(help: "The folder that the server leaves.", completion: .directory)
    var from: String
    @Option(help: "A new folder, for what lies beside the database.", completion: .directory)
    var data: String
    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard let address = try database.address else {
            throw ValidationError("Say where the server goes: --database, or the variable \(DatabaseOption.variable).")
        }
        let moving = try await ServerFolder(URL(filePath: data)).move(
            from: ServerFolder(URL(filePath: from)), to: address, clock: SystemWallClock())
        let rows = moving.rows.values.reduce(0, +)
        Terminal.line("\(data): \(rows) rows in \(moving.rows.count) tables are in \(address)")
        Terminal.line("The head of its audit, the same as before: \(moving.head)")
        Terminal.line("Next: holdfast-server doctor --data \(data), then serve; no server starts in \(from) anymore")
    }
}
