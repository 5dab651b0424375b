import Foundation
import HoldfastTesting
import Logging
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport

@Suite("Telling a target", .timeLimit(.minutes(2)))
struct NoticeDeliveryTests {
    /// A target that takes what a test lets it take.
    private final class Target: NoticeTarget {
        let name = "webhook"
        private let state = Mutex<(told: [RandomID], refuses: Set<RandomID>, refusesAll: Bool)>(([], [], false))
        let calls = AsyncStream.makeStream(of: RandomID.self)

        func deliver(_ notice: Notice) async -> String? {
            let isRefused = state.withLock { state in
                state.told.append(notice.id)
                return state.refusesAll || state.refuses.contains(notice.id)
            }
            calls.continuation.yield(notice.id)
            return isRefused ? "it refused" : nil
        }

        var told: [RandomID] { state.withLock { $0.told } }
        func refuse(_ ids: Set<RandomID>) { state.withLock { $0.refuses = ids } }
        func refuseAll(_ refuses: Bool) { state.withLock { $0.refusesAll = refuses } }
    }

    /// How long a delivery wanted to wait.
    private final class Pauses: Sendable {
        let all = Mutex<[Duration]>([])
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func notice(_ number: Int, _ kind: Notice.Kind = .change) -> Notice {
        Notice(kind, of: Story.server, ["app": "bank", "change": "\(number)"], words: "A change waits.")
    }

    /// Runs a delivery until a condition holds.
    private func running(
        _ target: Target, remembering file: URL? = nil, noting pauses: Pauses? = nil,
        counters: NoticeCounters = NoticeCounters(), offering notices: [Notice],
        until isDone: (Target) -> Bool
    ) async {
        let paused = AsyncStream.makeStream(of: Duration.self)
        let delivery = NoticeDelivery(
            to: target, remembering: NoticeFile(url: file), pause: { paused.continuation.yield($0) },
            counters: counters, logger: Self.quiet)
        try? await delivery.begin()
        delivery.offer(notices)
        let run = Task { await delivery.run() }
        for await _ in target.calls.stream where isDone(target) { break }
        run.cancel()
        await run.value
        paused.continuation.finish()
        var found: [Duration] = []
        for await pause in paused.stream { found.append(pause) }
        pauses?.all.withLock { $0 = found }
    }

    @Test("Nobody is told anything twice, not by a second look and not after a restart")
    func once() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "notices-webhook")
            let first = Target()
            let notices = (0..<3).map { Self.notice($0) }
            await running(first, remembering: file, offering: notices + notices) { $0.told.count >= 3 }
            #expect(first.told == notices.map(\.id))
            let second = Target()
            let news = Self.notice(3)
            await running(second, remembering: file, offering: notices + [news]) { $0.told.contains(news.id) }
            #expect(second.told == [news.id])
            let kept = try #require(try WholeFile.read(file, limit: 1_000))
            #expect(kept.count == 4 * 33)
        }
    }

    @Test("What is refused goes behind the others, and is told again after a pause until it is taken")
    func refused() async throws {
        let target = Target()
        let notices = (0..<3).map { Self.notice($0) }
        target.refuse([notices[0].id])
        let pauses = Pauses()
        await running(target, noting: pauses, offering: notices) { target in
            if target.told.count >= 5 { target.refuse([]) }
            return target.told.count >= 6
        }
        let told = target.told
        #expect(Array(told.prefix(3)) == notices.map(\.id), "the others came before the second attempt")
        #expect(told.dropFirst(3).allSatisfy { $0 == notices[0].id } && pauses.all.withLock { $0.count } >= 3)
    }

    @Test("Pauses grow to a limit, and a part of each is chance")
    func backoff() {
        let backoff = NoticeBackoff(first: .seconds(4), greatest: .seconds(60), jitter: 0.5)
        var generator = SeededGenerator(seed: 3)
        for (failures, longest) in [(1, 4), (2, 8), (3, 16), (4, 32), (5, 60), (6, 60), (1_000_000, 60)] {
            var seen: Set<Duration> = []
            for _ in 0..<50 {
                let delay = backoff.delay(after: failures, using: &generator)
                #expect(delay <= .seconds(longest) && delay >= .seconds(longest) / 2, "\(failures): \(delay)")
                seen.insert(delay)
            }
            #expect(seen.count > 40)
        }
    }

    @Test("No more waits than there is room for, what is over is not told, and the rest comes when there is room")
    func capacity() async throws {
        let counters = NoticeCounters()
        let target = Target()
        let notices = (0..<NoticeDelivery.capacity + 50).map { Self.notice($0) }
        let delivery = NoticeDelivery(
            to: target, remembering: NoticeFile(url: nil), counters: counters, logger: Self.quiet)
        delivery.offer(notices)
        #expect(counters.counts["webhook"]?.waiting == NoticeDelivery.capacity)
        // Before the first delivery, all but the last ones were settled.
        delivery.offer(Array(notices.suffix(50)))
        #expect(counters.counts["webhook"]?.waiting == 50)
        let run = Task { await delivery.run() }
        for await _ in target.calls.stream where target.told.count == 50 { break }
        run.cancel()
        await run.value
        #expect(target.told == notices.suffix(50).map(\.id))
    }

    @Test("Alarms of before anybody listened are not told; everything else is")
    func first() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "notices-webhook")
            let (old, change) = (Self.notice(1, .alarm), Self.notice(2))
            let target = Target()
            await running(target, remembering: file, offering: [old, change]) { !$0.told.isEmpty }
            #expect(target.told == [change.id])
            let (later, news) = (Target(), Self.notice(3, .alarm))
            await running(later, remembering: file, offering: [old, news, change]) { !$0.told.isEmpty }
            #expect(later.told == [news.id])
        }
    }

    @Test("A file that cannot be read or written stops nothing", arguments: [true, false])
    func damaged(isFolder: Bool) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "notices-webhook")
            if isFolder {
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            } else {
                try Data([0xFF, 0x0A, 0x00]).write(to: file)
            }
            let target = Target()
            await running(target, remembering: file, offering: [Self.notice(1)]) { !$0.told.isEmpty }
            #expect(target.told.count == 1)
        }
    }
}
