import Logging
import ServiceLifecycle

/// Keeps the right to serve from a database, and ends the server when somebody has taken it alone, or has changed the tables
/// so that this program cannot work on them.
struct DatabaseLockService: Service {
    let hold: DatabaseLock
    let logger: Logger

    /// How often in succession somebody has to have it alone: whoever cannot open what it took gives it back at once.
    /// Nothing is written meanwhile.
    private static let patience = 3

    /// Runs until it is asked to stop.
    /// - Throws: ``ServerError`` `databaseInUse` or `newerDatabase`.
    func run() async throws {
        let loss: ServerError? = await cancelWhenGracefulShutdown {
            var losses = 0
            while !Task.isCancelled {
                try? await Task.sleep(for: DatabaseLock.pause)
                guard !Task.isCancelled else { break }
                do throws(ServerError) {
                    try await hold.renew()
                    losses = 0
                } catch {
                    losses = error.code == .databaseInUse ? losses + 1 : 0
                    guard losses < Self.patience, error.code != .newerDatabase else { return error }
                    logger.error("the database: \(error)")
                }
            }
            return nil
        }
        if let loss { throw loss }
    }
}
