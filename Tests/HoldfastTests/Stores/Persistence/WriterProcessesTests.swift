#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Writers in several processes", .serialized, .timeLimit(.minutes(15)))
struct WriterProcessesTests {
    private static let size = 300_000

    @Test("Processes that save at the same time take turns: every reader finds what one of them saved, whole")
    func turns() async throws {
        try await withTemporaryFolder { folder in
            let path: String = folder.path
            let store = FileDataStore(folder: folder)
            #expect(store.save(data: Data(repeating: 0, count: Self.size), forKey: "default"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in UInt8(1)...4 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [path = path as String, writer = writer as UInt8] in
                            let store = FileDataStore(folder: URL(filePath: path))
                            let data = Data(repeating: writer, count: 300_000)
                            for _ in 0..<40 {
                                #expect(store.save(data: data, forKey: "default"))
                                let read = try #require(try store.load(forKey: "default"))
                                let first = try #require(read.first)
                                #expect(read.count == 300_000 && read.allSatisfy { $0 == first })
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = try #require(try store.load(forKey: "default"))
            #expect(last.count == Self.size && (1...4).contains(last.first ?? 0) && Set(last).count == 1)
            // Only the file and its lock remain.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        }
    }

    @Test("A process that saves while another holds the lock waits for it")
    func waiting() async throws {
        try await withTemporaryFolder { folder in
            let path: String = folder.path
            let kept = folder.appending(path: "kept")
            let store = FileDataStore(folder: kept)
            #expect(store.save(data: Data([1]), forKey: "default"))
            let lock = kept.appending(path: ".default.pins.lock")
            let descriptor = unsafe open(lock.path, O_RDWR | O_CLOEXEC)
            try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
            let started = try ProcessSignal(folder.appending(path: "started"))
            // No task has to run for it: Swift Testing blocks a thread that tasks run on until the other process ends.
            async let before = onThread {
                started.wait()
                defer { close(descriptor) }
                // Time for a save, if nothing kept it from saving.
                let saved = (0..<10).map { _ in store.save(data: Data([3]), forKey: "other") }
                return (saved.allSatisfy { $0 }, try store.load(forKey: "default"))
            }
            await #expect(processExitsWith: .success) { [path = path as String] in
                let folder = URL(filePath: path)
                try ProcessSignal(folder.appending(path: "started")).send()
                let store = FileDataStore(folder: folder.appending(path: "kept"))
                #expect(store.save(data: Data([2]), forKey: "default"))
            }
            // One that has ended without a word.
            started.send()
            let (hasSaved, content) = try await before
            #expect(hasSaved && content == Data([1]))
            #expect(try store.load(forKey: "default") == Data([2]))
        }
    }
}
#endif
