public import Holdfast
public import ServiceLifecycle
import Synchronization

/// Tries again and again to open a server whose database cannot be used, and ends when that works.
public final class FolderRepair: Service {
    private let folder: ServerFolder
    private let clock: any WallClock
    private let done = Mutex(false)

    private static let pause: Duration = .seconds(5)

    /// Mends a folder.
    public init(_ folder: ServerFolder, clock: any WallClock) {
        self.folder = folder
        self.clock = clock
    }

    /// Whether the server can be opened as a whole again.
    public var isDone: Bool { done.withLock { $0 } }

    /// Tries until it works, or until the task is canceled or asked to stop.
    public func run() async throws {
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
