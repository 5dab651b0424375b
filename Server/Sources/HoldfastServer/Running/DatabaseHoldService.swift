import Logging
import ServiceLifecycle

/// Keeps the right to serve from a database, and ends the server when another one has taken it.
struct DatabaseHoldService: Service {
    let hold: DatabaseHold
    let logger: Logger

    private static let pause: Duration = .seconds(5)

    /// Runs until it is asked to stop.
    /// - Throws: ``ServerError`` `databaseInUse`.
    func run() async throws {
        let loss: ServerError? = await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                guard !Task.isCancelled else { break }
                do throws(ServerError) {
                    try await hold.renew()
                } catch {
                    guard error.code != .databaseInUse else { return error }
                    logger.error("the database: \(error)")
                }
            }
            return nil
        }
        if let loss { throw loss }
    }
}
