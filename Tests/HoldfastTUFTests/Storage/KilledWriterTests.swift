#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// How many processes are killed. Enough of them take long: `scripts/nightly` asks for 200.
let killsOfANight = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"].flatMap { Int($0) } ?? 0

@Suite(
    "Updates that are killed", .serialized, .enabled(if: killsOfANight > 0, "HOLDFAST_KILLS is not set"),
    .timeLimit(.minutes(120)))
struct KilledWriterTests {
    @Test("After a process was killed at any moment of an update the next one goes on from trusted metadata")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let served = folder.appending(path: "served")
            let store = MetadataFolder(folder.appending(path: "kept"))
            var repository = try TestRepository(start: SystemWallClock().now)
            try FolderSource.write(repository, to: served)
            let client = TUFClient(store: store, source: FolderSource(folder: served))
            try client.initialize(root: try #require(repository.served("1.root.json")))
            var published = Set(repository.files.values)
            var generator = SplitMix64(seed: 16)
            var states: Set<[Data?]> = []
            for round in 0..<killsOfANight {
                repository.addTarget("x", Data("content \(round)".utf8))
                if round % 3 == 0 {
                    let old = try #require(repository.signers["root"])
                    repository.setKeys(of: "timestamp", [try TestSigner()])
                    repository.setKeys(of: "root", [try TestSigner()])
                    repository.signers["root"]? += old
                    try repository.publish("root", increment: true)
                    repository.signers["root"]?.removeLast(old.count)
                }
                try repository.publishAll()
                try FolderSource.write(repository, to: served)
                published.formUnion(repository.files.values)
                let path: String = folder.path
                let microseconds = UInt32.random(in: 0..<40_000, using: &generator)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, microseconds = microseconds as UInt32] in
                    let folder = URL(filePath: path)
                    let source = FolderSource(folder: folder.appending(path: "served"))
                    let client = TUFClient(store: MetadataFolder(folder.appending(path: "kept")), source: source)
                    Thread.detachNewThread {
                        usleep(microseconds)
                        kill(getpid(), SIGKILL)
                    }
                    while true {
                        let update = try await client.refresh()
                        try await update.download(
                            try await update.target("x"), into: folder.appending(path: "downloads"))
                    }
                }
                // Whatever is kept was published once, whole.
                let kept = try [RoleName.root, .timestamp, .snapshot, .targets].map {
                    try store.data(of: StoredMetadataName($0), atMost: 1 << 20)
                }
                for data in kept { if let data { #expect(published.contains(data)) } }
                states.insert(kept)
                let update = try await client.refresh()
                let file = try await update.download(
                    try await update.target("x"), into: folder.appending(path: "downloads"))
                #expect(try Data(contentsOf: file) == Data("content \(round)".utf8))
            }
            #expect(states.count > 1)
        }
    }
}
#endif
