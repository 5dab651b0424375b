#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite(
    "Apps that are killed while their pins are updated", .serialized,
    .enabled(if: killsOfANight > 0, "HOLDFAST_KILLS is not set"), .timeLimit(.minutes(120)))
struct KilledWriterOfPinsTests {
    @Test(
        "The next start has pins that were published, never older ones, and the next update goes on from there",
        arguments: PinScene.Way.allCases)
    func killed(way: PinScene.Way) async throws {
        try await withTemporaryFolder { folder in
            var scene = try PinScene(way)
            func start() throws -> PinRepository { try startedApp(folder, way, scene.clock) }
            func publish() throws -> Date {
                scene.clock.advance(by: .seconds(60))
                try scene.publish()
                try FolderProvider.write(scene.repository, to: folder)
                return scene.clock.now
            }
            var newest = try publish()
            try await start().update()
            var outcomes: Set<Bool> = []
            var generator = SplitMix64(seed: 29)
            for _ in 0..<killsOfANight {
                let published = try publish()
                let (path, name, now): (String, String, Double) = (
                    folder.path, way.rawValue, scene.clock.now.timeIntervalSinceReferenceDate
                )
                let microseconds = UInt32.random(in: 0..<60_000, using: &generator)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [
                        path = path as String, name = name as String, now = now as Double,
                        microseconds = microseconds as UInt32
                    ] in
                    Thread.detachNewThread {
                        usleep(microseconds)
                        kill(getpid(), SIGKILL)
                    }
                    let way = try #require(PinScene.Way(rawValue: name))
                    let clock = ManualClock(now: Date(timeIntervalSinceReferenceDate: now))
                    while true {
                        let pins = try startedApp(URL(filePath: path), way, clock)
                        try await pins.update(mode: .forced)
                    }
                }
                let pins = try start()
                #expect(pins.storageError == nil && pins.state == .fresh)
                let issued = try #require(pins.pinFile?.issuedAt)
                #expect(issued == newest || issued == published)
                outcomes.insert(issued == published)
                try await pins.update(mode: .forced)
                #expect(pins.pinFile?.issuedAt == published)
                newest = published
            }
            #expect(outcomes.count == 2)
        }
    }
}

@Suite("Pins in several processes", .serialized, .timeLimit(.minutes(120)))
struct PinProcessesTests {
    @Test(
        "What one process stores while another downloads something older stays, whatever is restarted",
        arguments: PinScene.Way.allCases)
    func rollback(way: PinScene.Way) async throws {
        try await withTemporaryFolder { folder in
            var scene = try PinScene(way)
            func publish() throws -> Date {
                scene.clock.advance(by: .seconds(60))
                try scene.publish()
                try FolderProvider.write(scene.repository, to: folder)
                return scene.clock.now
            }
            _ = try publish()
            try await startedApp(folder, way, scene.clock).update(mode: .forced)
            let (asked, go) = (Gate(), Gate())
            let own = try startedApp(folder, way, scene.clock, heldBackBy: (asked, go))
            _ = try publish()
            // That process waits for nothing: Swift Testing blocks a thread that tasks run on until it ends.
            async let update = own.update(mode: .forced)
            await asked.wait()
            let newest = try publish()
            let (path, name, now): (String, String, Double) = (
                folder.path, way.rawValue, newest.timeIntervalSinceReferenceDate
            )
            await #expect(processExitsWith: .success) {
                [path = path as String, name = name as String, now = now as Double] in
                let way = try #require(PinScene.Way(rawValue: name))
                let clock = ManualClock(now: Date(timeIntervalSinceReferenceDate: now))
                let pins = try startedApp(URL(filePath: path), way, clock)
                try await pins.update(mode: .forced)
                #expect(pins.pinFile?.issuedAt == clock.now)
            }
            go.open()
            _ = try await update
            #expect(own.pinFile?.issuedAt == newest)
            #expect(try startedApp(folder, way, scene.clock).pinFile?.issuedAt == newest)
        }
    }

    @Test("Two repositories of one process see each other's updates", arguments: PinScene.Way.allCases)
    func eachOther(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let (first, second) = (try scene.start(), try scene.start())
        try await first.update(mode: .forced)
        scene.clock.advance(by: .seconds(60))
        try scene.publish()
        try await first.update(mode: .forced)
        #expect(second.pinFile?.issuedAt == scene.clock.now)
    }
}

/// The app as it starts, with what is stored in the folder.
private func startedApp(
    _ folder: URL, _ way: PinScene.Way, _ clock: ManualClock, heldBackBy gates: (asked: Gate, go: Gate)? = nil
) throws -> PinRepository {
    func url(_ path: String) throws -> URL { try #require(URL(string: RepositoryProvider.base + path)) }
    var configuration = PinRepositoryConfiguration(
        source: way == .bundle
            ? .bundle(try url("bundle.json")) : .files(metadata: try url("metadata"), targets: try url("targets")),
        root: try Data(contentsOf: folder.appending(path: "metadata/1.root.json")),
        floor: PinFloor(covering: [try HostPattern(PinScene.host)]))
    configuration.remoteDataProvider = FolderProvider(folder: folder, gates: gates)
    configuration.secureDataStore = FileDataStore(folder: folder.appending(path: "kept"))
    // A download that is held back lasts as long as a busy machine wants.
    configuration.updateTimeout = .seconds(3_600)
    return try PinRepository(checking: configuration, clock: clock, logger: RecordingLog().logger)
}

/// Serves a repository from a folder, to a process that has nothing else of it.
private final class FolderProvider: RemoteDataProvider {
    private let folder: URL
    /// The first opens when the last file of the first download is read, which is handed out only after the second.
    private let gates: Lock<(asked: Gate, go: Gate)?>

    init(folder: URL, gates: (asked: Gate, go: Gate)?) {
        self.folder = folder
        self.gates = Lock(gates)
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let path = request.url.absoluteString.dropFirst(RepositoryProvider.base.count)
        let file = URL(filePath: folder.path + "/" + path)
        let isLast = path == "bundle.json" || path.hasPrefix("targets/")
        let data = try AtomicFile.readIfRegular(file, maximumBytes: request.maximumBytes)
        let gates = self.gates.withLock { gates in
            defer { if isLast { gates = nil } }
            return isLast ? gates : nil
        }
        if let gates {
            gates.asked.open()
            await gates.go.wait()
        }
        guard let data = try data ?? AtomicFile.readIfRegular(file, maximumBytes: request.maximumBytes) else {
            throw RemoteDataError(status: 404)
        }
        return RemoteDataResponse(.body(data))
    }

    static func write(_ repository: TestRepository, to folder: URL) throws {
        try FolderSource.write(repository, to: folder)
        try RepositoryBundle(repository).json.write(to: folder.appending(path: "bundle.json"), options: .atomic)
    }
}
#endif
