#if os(macOS) || os(Linux)
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// How many processes are killed. Enough of them take long: `scripts/nightly` asks for 200.
private let kills = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"].flatMap { Int($0) } ?? 0

@Suite(
    "Writers that are killed", .serialized, .enabled(if: kills > 0, "HOLDFAST_KILLS is not set"),
    .timeLimit(.minutes(120)))
struct KilledWriterTests {
    /// Big enough that most of the time is spent writing.
    private static let size = 400_000

    @Test("A process that is killed at any moment while it saves leaves one list or the other, never neither")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let store = FileDataStore(folder: folder)
            #expect(store.save(data: Data(repeating: 0, count: Self.size), forKey: "default"))
            var generator = SplitMix64(seed: 21)
            var seen: Set<UInt8> = []
            for _ in 0..<kills {
                let path: String = folder.path
                let microseconds = UInt32.random(in: 0..<20_000, using: &generator)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, microseconds = microseconds as UInt32] in
                    Thread.detachNewThread {
                        usleep(microseconds)
                        kill(getpid(), SIGKILL)
                    }
                    let store = FileDataStore(folder: URL(filePath: path))
                    var number: UInt8 = 0
                    while true {
                        number = number &+ 1
                        _ = store.save(data: Data(repeating: number, count: 400_000), forKey: "default")
                    }
                }
                let data = try #require(try store.load(forKey: "default"))
                let first = try #require(data.first)
                #expect(data.count == Self.size && data.allSatisfy { $0 == first })
                seen.insert(first)
            }
            // The lock died with its holder, and most children had saved something.
            #expect(store.save(data: Data([1]), forKey: "default"))
            #expect(seen.count > 1)
        }
    }
}
#endif
