import Foundation

/// The environment of programs that this process starts: its own variables without those for its settings, such as the
/// password of its database.
enum ProgramEnvironment {
    /// Variables of libpq that contain a password or the path of one.
    private static let ofDatabase: Set<String> = [
        "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD",
    ]
    private static let prefix = "HOLDFAST_SERVER_"

    /// The variables that programs may inherit.
    /// - Parameter variables: the variables of this process.
    static func inherited(from variables: [String: String] = ProcessInfo.processInfo.environment) -> [String: String] {
        variables.filter { !$0.key.utf8.starts(with: prefix.utf8) && !ofDatabase.contains($0.key) }
    }
}
