import Foundation
import Holdfast
import PinPublication
import ServiceLifecycle

/// Serves the documents in the folder while the database is unusable, and reads them again every minute.
struct FolderRefresh: Service {
    let folder: PublicFolder
    let live: LiveSnapshot
    let clock: any WallClock

    private static let pause: Duration = .seconds(60)

    /// Reads the folder once.
    func refresh() {
        let now = Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0
        live.replace(with: folder.snapshot(at: now))
    }

    /// Runs until the task is canceled or a shutdown is requested.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                refresh()
            }
        }
    }
}
