import Logging
import ServerFoundation
import ServerStore
import ServiceLifecycle

/// Keeps the right to serve from a database. It ends the server when another server has locked the database
/// exclusively, or a newer program has changed the tables so that this one cannot use them.
struct DatabaseLockService: Service {
    let hold: DatabaseLock
    let logger: Logger

    /// The number of consecutive failures after which the server ends: a server that cannot open the database releases
    /// its lock at once. Nothing is written in the meantime.
    private static let patience = 3

    /// Runs until a shutdown is requested.
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
