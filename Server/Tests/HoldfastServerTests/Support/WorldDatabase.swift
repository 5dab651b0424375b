import Foundation

@testable import PinPublication
@testable import ServerImport
@testable import ServerStore

/// Where worlds keep their data: in files, unless a test says otherwise.
enum WorldDatabase {
    /// The database of the worlds of a test, of which there is one.
    @TaskLocal static var current: PostgreSQLAddress?

    /// A PostgreSQL on which each world of every test gets a database of its own, such as
    /// `postgresql://holdfast@127.0.0.1:5432/`: for a run of suites that are usually run on files. Tests that write to those
    /// files fail then.
    private static let everywhere = ProcessInfo.processInfo.environment["HOLDFAST_TEST_DATABASES"]

    /// The database of a new world; nil for a file.
    static func address() async throws -> PostgreSQLAddress? {
        if let current { return current }
        guard let everywhere else { return nil }
        let name = "world_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let connection = try PostgreSQLConnection(
            PostgreSQLAddress(everywhere + "postgres"), limits: .usual, clock: nil)
        try connection.execute("CREATE DATABASE \(name)")
        return try PostgreSQLAddress(everywhere + name)
    }
}
