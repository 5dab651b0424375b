import Foundation

/// What programs inherit that this process starts: its variables without those that have its own settings, such as the
/// password of its database.
enum ProgramEnvironment {
    /// Those of libpq that have a password or say where one is.
    private static let ofDatabase: Set<String> = [
        "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD",
    ]
    private static let prefix = "HOLDFAST_SERVER_"

    /// The variables of a process that others may have.
    /// - Parameter variables: those of this process.
    static func inherited(from variables: [String: String] = ProcessInfo.processInfo.environment) -> [String: String] {
        variables.filter { !$0.key.utf8.starts(with: prefix.utf8) && !ofDatabase.contains($0.key) }
    }
}
