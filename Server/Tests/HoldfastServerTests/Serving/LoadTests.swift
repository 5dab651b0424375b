import Foundation
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import PinPublication
@testable import PublicAPI
@testable import ServerHTTP
@testable import ServerStore

@Suite("The public listener under load", .timeLimit(.minutes(10)))
struct LoadTests {
    private static let request =
        "GET /app/init?appName=bank HTTP/1.1\r\nHost: pins.example.net\r\n"
        + "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw==\r\n"

    /// With HOLDFAST_CLIENTS, as scripts/nightly sets it, the clients' times count as well: there the machine is ours.
    private static let given = Int(ProcessInfo.processInfo.environment["HOLDFAST_CLIENTS"] ?? "")

    private final class Count: Sendable {
        let value = Mutex(0)
    }

    /// Sends far more than it may, on as many connections as it gets, and reads only what it must.
    private func flood(_ port: Int, _ sent: Count) async {
        let batch = ByteBuffer(string: String(repeating: Self.request + "\r\n", count: 20))
        while !Task.isCancelled {
            try? await RawClient(port: port, from: "127.66.0.1").connected { inbound, outbound in
                for _ in 0..<3 {
                    try await outbound.write(batch)
                    sent.value.withLock { $0 += 20 }
                }
                var answers = inbound.makeAsyncIterator()
                _ = try await answers.next()
            }
        }
    }

    @Test("One source that asks for ten times what can be signed takes nothing from the others")
    func oneGreedySource() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        let clients = Self.given ?? 200
        // Honest clients need half of it.
        let ceiling = 400.0
        let pace = ceiling / 2
        try await site.listening(ceiling: ceiling) { port in
            let sent = Count()
            let begin = ContinuousClock.now
            try await withThrowingTaskGroup(of: Duration?.self) { group in
                for _ in 0..<32 {
                    group.addTask {
                        await flood(port, sent)
                        return .zero
                    }
                }
                var spans: [Duration?] = []
                try await withThrowingTaskGroup(of: Duration?.self) { honest in
                    for number in 0..<clients {
                        // Their arrival is the load that is meant, and no wait for anything.
                        try await ContinuousClock().sleep(until: begin + .seconds(Double(number) / pace))
                        honest.addTask {
                            let client = RawClient(port: port, from: "127.\(1 + number / 250).\(number % 250).1")
                            let start = ContinuousClock.now
                            let text = try await client.exchange(Self.request + "Connection: close\r\n\r\n")
                            let span = ContinuousClock.now - start
                            return RawAnswer(text).status == 200 ? span : nil
                        }
                    }
                    for try await span in honest { spans.append(span) }
                }
                let elapsed = ContinuousClock.now - begin
                group.cancelAll()
                let answered = spans.compactMap(\.self)
                #expect(answered.count * 100 >= clients * 99, "\(answered.count) of \(clients) were answered")
                let tenfold = Int(ceiling * 10 * Double(elapsed.components.seconds))
                #expect(sent.value.withLock { $0 } > Int(ceiling), "the flood was none")
                guard Self.given != nil else { return }
                let quick = answered.count { $0 < .seconds(1) }
                #expect(quick * 100 >= clients * 99, "\(quick) of \(clients) within a second")
                #expect(sent.value.withLock { $0 } >= tenfold, "the flood was too small: \(sent.value.withLock { $0 })")
            }
        }
    }

    @Test(
        "Nobody waits behind what one source has sent: of each of its connections one request is refused, and no more read"
    )
    func turns() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        let counters = ListenerCounters()
        var settings = try ListenerSettings(port: 0)
        // As if no time passed.
        settings.limits.pause = .hours(1)
        let (connections, honest) = (32, 60)
        let batch = ByteBuffer(string: String(repeating: Self.request + "\r\n", count: 20))
        // One source may have ten in a second, and sends 640.
        try await site.listening(settings, ceiling: 80, counters: counters) { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (refusals, refused) = AsyncStream.makeStream(of: Void.self)
                for _ in 0..<connections {
                    group.addTask {
                        try? await RawClient(port: port, from: "127.66.0.1").connected { inbound, outbound in
                            try await outbound.write(batch)
                            var text = ""
                            for try await buffer in inbound {
                                text += String(buffer: buffer)
                                guard text.contains("HTTP/1.1 503") else { continue }
                                refused.yield()
                                text = ""
                            }
                        }
                    }
                }
                var waiting = connections
                for await _ in refusals {
                    waiting -= 1
                    if waiting == 0 { break }
                }
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<honest {
                        group.addTask {
                            let client = RawClient(port: port, from: "127.1.\(number).1")
                            return RawAnswer(try await client.exchange(Self.request + "Connection: close\r\n\r\n"))
                                .status
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses == [Int](repeating: 200, count: honest))
                #expect(counters.value("holdfast_signatures_refused_total", "source") == Double(connections))
                #expect(counters.value("holdfast_signatures_refused_total", "ceiling") == 0)
                group.cancelAll()
            }
        }
    }

    @Test("Past the ceiling the answer is 503, says when to come back, has no signature, and no effect on documents")
    func ceiling() async throws {
        let site = try ServingSite()
        site.publish(
            documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))], apps: [try site.app()])
        try await site.listening(ceiling: 8) { port in
            let client = RawClient(port: port)
            // A source has one in a second.
            var statuses: [Int] = []
            for _ in 0..<10 {
                let answer = RawAnswer(try await client.exchange(Self.request + "Connection: close\r\n\r\n"))
                statuses.append(answer.status)
                guard answer.status != 200 else { continue }
                #expect(answer.status == 503 && answer.body.contains(#""code":"BUSY""#))
                #expect(Int(answer.header("Retry-After") ?? "") ?? 0 >= 1)
                #expect(answer.header("X-Cert-Pinning-Signature") == nil)
            }
            #expect(statuses.contains(200) && statuses.contains(503), "\(statuses)")
            for _ in 0..<10 { #expect(try await client.get("/lists/bank.json").status == 200) }
        }
    }

    @Test("Stopping lets answers that are under way end, closes what is idle, and waits for nobody for long")
    func gracefulStop() async throws {
        let site = try ServingSite()
        site.publish(documents: [
            "lists/large.json": ServingSite.document([UInt8](repeating: 0x61, count: 8 << 20))
        ])
        var settings = try ListenerSettings(port: 0)
        settings.limits.stopping = .seconds(2)
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let listener = PublicListener(
            settings, serving: site.live, budget: SigningBudget(ceiling: 100), time: { ServingSite.now },
            on: .singletonMultiThreadedEventLoopGroup, logger: quiet,
            onListening: { found.yield($0?.port ?? 0) })
        let services = ServiceGroup(
            configuration: .init(services: [.init(service: listener)], gracefulShutdownSignals: [], logger: quiet))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var port = 0
            for await found in ports {
                port = found
                break
            }
            let client = RawClient(port: port)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            let large = Array("GET /lists/large.json HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            async let idle = client.exchange(Array("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) {
                begin.yield()
            }
            async let reading = client.exchange(large) { begin.yield() }
            async let unread: Void = client.connected { _, outbound in
                try await outbound.write(ByteBuffer(bytes: large))
                begin.yield()
                for await _ in ended {}
            }
            var count = 0
            for await _ in begun {
                count += 1
                if count == 3 { break }
            }
            await services.triggerGracefulShutdown()
            #expect(try await RawAnswer(idle).status == 200)
            #expect(try await RawAnswer(reading).body.utf8.count == 8 << 20)
            try await group.waitForAll()
            end.finish()
            try await unread
        }
    }
}

extension ListenerCounters {
    /// The value under a name and the value of a label.
    fileprivate func value(_ name: String, _ label: String) -> Double? {
        families.first { $0.name == name }?.samples.first { $0.labels.contains { $0.1 == label } }?.value
    }
}
