import Foundation
import Holdfast
import ServiceLifecycle

/// Serves what is in the folder, read again each minute, while the database cannot be used.
struct FolderRefresh: Service {
    let folder: PublicFolder
    let live: LiveSnapshot
    let clock: any WallClock

    private static let pause: Duration = .seconds(60)

    /// Reads it once.
    func refresh() {
        let now = Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0
        live.replace(with: folder.snapshot(at: now))
    }

    /// Works until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                refresh()
            }
        }
    }
}
