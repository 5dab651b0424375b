package import Holdfast
package import PinPublication
import ServerFoundation
import ServerStore
import ServiceLifecycle
import Synchronization

/// Retries to open a server whose database is unusable, and ends when that succeeds.
package final class FolderRepair: Service {
    private let folder: ServerFolder
    private let clock: any WallClock
    private let done = Mutex(false)

    private static let pause: Duration = .seconds(5)

    /// Creates a service for a folder.
    package init(_ folder: ServerFolder, clock: any WallClock) {
        self.folder = folder
        self.clock = clock
    }

    /// Whether the server can be opened completely again.
    package var isDone: Bool { done.withLock { $0 } }

    /// Retries until it succeeds, the task is canceled, or a shutdown is requested.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                guard !Task.isCancelled, let open = try? await folder.open(clock: clock) else { continue }
                let isWritable = (try? await open.engine.write { _ throws(ServerError) in () }) != nil
                await open.engine.close()
                guard isWritable else { continue }
                done.withLock { $0 = true }
                return
            }
        }
    }
}
