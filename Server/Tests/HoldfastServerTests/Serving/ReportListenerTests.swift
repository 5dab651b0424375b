import Foundation
import HoldfastProbe
import NIOCore
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

@Suite("Reports over HTTP", .timeLimit(.minutes(5)))
struct ReportListenerTests {
    private static let target = "/reports?appName=bank"

    /// An inbox that takes reports of one app.
    private func inbox() throws -> ReportInbox {
        let inbox = ReportInbox()
        inbox.intake.replace(with: [try AppName("bank"): ReportHosts([(World.host, 443)])])
        return inbox
    }

    private func head(_ length: Int, _ target: String = target, _ more: [String] = []) -> String {
        (["POST \(target) HTTP/1.1", "Host: pins.example.net", "Content-Length: \(length)"]
            + (more.contains { $0.hasPrefix("Content-Type") } ? [] : ["Content-Type: application/reports+json"]) + more)
            .map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private func post(
        _ port: Int, _ body: String, _ target: String = target, _ more: [String] = []
    ) async throws -> RawAnswer {
        RawAnswer(
            try await RawClient(port: port).exchange(
                head(body.utf8.count, target, more + ["Connection: close"]) + body))
    }

    @Test("A report of an app that takes them is taken, and of no other app")
    func taking() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        try await site.listening(reports: inbox) { port in
            let body = ReportDesk.networkError()
            for type in ["application/reports+json", "application/json", "Application/JSON; charset=utf-8"] {
                let answer = try await post(port, body, Self.target, ["Content-Type: \(type)"])
                #expect(answer.status == 202 && answer.body == #"{"status":"OK"}"#, "\(type): \(answer.text)")
            }
            #expect(inbox.intake.count == 3)
            let item = try #require(inbox.intake.next())
            #expect(String(buffer: item.body) == body && item.audience == .everybody)
            #expect(try await post(port, body, "/reports?appName=bank-canary").status == 202)
            _ = (inbox.intake.next(), inbox.intake.next())
            #expect(inbox.intake.next()?.audience == .canary)
            for other in [
                "/reports?appName=shop", "/reports", "/reports?appName=bank&appName=bank", "/reports?appName=%ff",
            ] {
                #expect(try await post(port, body, other).status == 404, "\(other)")
            }
            #expect(try await post(port, body, Self.target, ["Content-Type: text/plain"]).status == 415)
            #expect(try await post(port, body, Self.target, ["Content-Encoding: gzip"]).status == 415)
            #expect(try await post(port, body, "/lists/bank.json").status == 405)
            #expect(inbox.intake.count == 0)
        }
    }

    @Test("Nothing is taken before somebody reads, or where nobody does")
    func off() async throws {
        let site = try ServingSite()
        try await site.listening(reports: ReportInbox()) { port in
            let answer = try await post(port, ReportDesk.networkError())
            #expect(answer.status == 503 && answer.header("Retry-After") == "60")
        }
        try await site.listening { port in
            let answer = try await post(port, ReportDesk.networkError())
            #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD", "nothing is taken there")
        }
    }

    @Test("Browsers that ask first may send reports from any origin")
    func preflight() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        try await site.listening(reports: inbox) { port in
            let answer = try await RawClient(port: port).request("OPTIONS", Self.target, ["Origin: https://a.b"])
            #expect(answer.status == 200 && answer.header("Access-Control-Allow-Origin") == "*")
            #expect(answer.header("Access-Control-Allow-Headers") == "content-type")
            #expect(try await RawClient(port: port).request("OPTIONS", "/lists/bank.json").status == 405)
        }
    }

    @Test("A full queue is said before the body is read, the connection goes on, and documents are served")
    func full() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        site.publish(documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))])
        let app = try AppName("bank")
        for number in 0..<ReportIntake.maximumCount {
            #expect(inbox.intake.take(ByteBuffer(string: "[]"), for: app, from: try ReportDesk.source(number)))
        }
        let counters = ListenerCounters()
        try await site.listening(counters: counters, reports: inbox) { port in
            // The answer comes although the body never does.
            let early = try await firstAnswer(port, head(10_000))
            #expect(early.status == 503 && early.header("Retry-After") == "60" && early.header("Connection") == nil)
            // A body that comes is thrown away, and the next request on the connection is answered.
            let next = "GET /lists/bank.json HTTP/1.1\r\nHost: pins.example.net\r\nConnection: close\r\n\r\n"
            let body = String(repeating: "x", count: 10_000)
            let both = try await RawClient(port: port).exchange(head(10_000) + body + next)
            #expect(
                both.hasPrefix("HTTP/1.1 503") && both.contains("HTTP/1.1 200") && both.hasSuffix("list"), "\(both)")
            // A body whose end is unknown ends its connection.
            for more in ["Transfer-Encoding: chunked", "Expect: 100-continue"] {
                let length = more.hasPrefix("Expect") ? "Content-Length: 9\r\n" : ""
                let answer = RawAnswer(
                    try await RawClient(port: port).exchange(
                        "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                            + "\(length)\(more)\r\n\r\n"))
                #expect(answer.status == 503 && answer.header("Connection") == "close", "\(more): \(answer.text)")
            }
            #expect(inbox.counters.count(of: .shed) == 4)
            #expect(inbox.intake.count == ReportIntake.maximumCount)
        }
    }

    @Test("A source that sent too much is told so before its body is read, and for how long")
    func tooMany() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        let (app, source) = (try AppName("bank"), SourcePrefix(try IPAddress("127.0.0.1")))
        try await site.listening(reports: inbox) { port in
            // So late that nothing comes back meanwhile.
            let later = NIODeadline.now().uptimeNanoseconds + 60_000_000_000
            while refusal(inbox, app, from: source, at: later) == nil {}
            let answer = try await firstAnswer(port, head(10_000))
            #expect(answer.status == 429 && answer.header("Retry-After") == "1")
            #expect(inbox.counters.count(of: .rate) == 1 && inbox.intake.count == 0)
            let other = RawClient(port: port, from: "127.0.1.1")
            let body = ReportDesk.networkError()
            let taken = try await other.exchange(head(body.utf8.count, Self.target, ["Connection: close"]) + body)
            #expect(RawAnswer(taken).status == 202)
        }
    }

    @Test("A body of more than 64 KiB is refused")
    func large() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        try await site.listening(reports: inbox) { port in
            let refusal = try await firstAnswer(port, head(ReportReader.maximumSize + 1))
            #expect(refusal.status == 413)
            let body = String(repeating: " ", count: ReportReader.maximumSize)
            let answer = try await post(port, body)
            #expect(answer.status == 202)
        }
    }

    /// Why a body of a few bytes is not read; nil if it is.
    private func refusal(
        _ inbox: ReportInbox, _ app: AppName, from source: SourcePrefix, at now: UInt64
    ) -> ReportIntake.Refusal? {
        do throws(ReportIntake.Refusal) {
            _ = try inbox.intake.admit(app, from: source, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("A source that sends too much is told to wait, and others are not")
    func rates() throws {
        let inbox = try inbox()
        let app = try AppName("bank")
        func source(_ text: String) throws -> SourcePrefix { SourcePrefix(try IPAddress(text)) }
        let (loud, quiet) = (try source("192.0.2.1"), try source("198.51.100.1"))
        var taken = 0
        while refusal(inbox, app, from: loud, at: 0) == nil, taken < 10_000 { taken += 1 }
        #expect(taken == 200)
        #expect(refusal(inbox, app, from: loud, at: 0) == .rate(seconds: 1))
        #expect(refusal(inbox, app, from: quiet, at: 0) == nil)
        #expect(refusal(inbox, app, from: loud, at: 1_000_000_000) == nil)
    }

    @Test("An app whose clients send too much takes nothing of another app's")
    func shares() throws {
        let inbox = ReportInbox()
        let (bank, shop) = (try AppName("bank"), try AppName("shop"))
        inbox.intake.replace(with: [bank: .none, shop: .none])
        var taken = 0
        for number in 0..<10_000 {
            let source = SourcePrefix(try IPAddress("10.\(number / 256).\(number % 256).1"))
            if refusal(inbox, bank, from: source, at: 0) == nil { taken += 1 }
        }
        #expect(taken == 4_000)
        let other = SourcePrefix(try IPAddress("192.0.2.1"))
        #expect(refusal(inbox, shop, from: other, at: 0) == nil)
    }

    @Test("Bodies on their way count as far as they have come, a share for each source, and give their room back")
    func onTheirWay() async throws {
        let inbox = try inbox()
        let app = try AppName("bank")
        // A client that only announces a body takes no space from others.
        var permits: [BodyPermit] = []
        for number in 0..<2_000 {
            permits.append(try inbox.intake.admit(app, from: ReportDesk.source(number), at: UInt64(number)))
        }
        #expect(inbox.intake.take(ByteBuffer(string: "[]"), for: app, from: .unknown) && inbox.intake.next() != nil)
        let size = ReportReader.maximumSize
        // Received bytes count: an eighth of the total for one source, and all of it for many.
        let loud = try ReportDesk.source(0)
        var own: [BodyPermit] = []
        while own.count < 1_000 {
            let time = 1_000_000_000_000 * UInt64(own.count + 1)
            guard let permit = try? inbox.intake.admit(app, from: loud, at: time), permit.receive(size) else { break }
            own.append(permit)
        }
        #expect(own.count == ReportIntake.maximumBytes / size / 8)
        let taken = permits.dropFirst().prefix { $0.receive(size) }.count
        #expect(taken == ReportIntake.maximumBytes / size * 7 / 8)
        #expect(!inbox.intake.take(ByteBuffer(string: "[]"), for: app, from: .unknown))
        (own, permits) = ([], [])
        #expect(inbox.intake.take(ByteBuffer(string: "[]"), for: app, from: .unknown))
        // Over a connection: what comes takes the room, and its end gives it back.
        let site = try ServingSite()
        try await site.listening(reports: inbox) { port in
            for number in 0..<300 {
                let client = RawClient(port: port, from: "127.0.\(number / 100).1")
                let text = head(size, Self.target, ["Expect: 100-continue"])
                try await client.connected { inbound, outbound in
                    try await outbound.write(ByteBuffer(string: text))
                    for try await answer in inbound {
                        #expect(String(buffer: answer).hasPrefix("HTTP/1.1 100"), "number \(number)")
                        break
                    }
                    try await outbound.write(ByteBuffer(repeating: 0x20, count: size - 1))
                }
            }
        }
        // The listener has ended, and with it every connection.
        #expect(inbox.intake.take(ByteBuffer(repeating: 0x20, count: size), for: app, from: .unknown))
    }

    @Test(
        "A queue that some sources have filled, with many reports or large ones, has room for others",
        arguments: [2, 12_000])
    func filled(size: Int) throws {
        let inbox = try inbox()
        let app = try AppName("bank")
        func fill() throws {
            let body = ByteBuffer(repeating: 0x20, count: size)
            for number in 0..<40_000 {
                _ = inbox.intake.take(body, for: app, from: try ReportDesk.source(number % 200))
            }
        }
        try fill()
        #expect(
            inbox.intake.count == min(ReportIntake.maximumCount, ReportIntake.maximumBytes / size))
        // Reports are not read: every other source still has its report taken, and it stays.
        let own = ByteBuffer(repeating: 0x21, count: size)
        for number in 1_000..<1_100 {
            let other = try ReportDesk.source(number)
            let permit = try inbox.intake.admit(app, from: other, at: UInt64(number))
            #expect(permit.receive(size))
            #expect(inbox.intake.take(own, for: app, from: other))
        }
        try fill()
        #expect(inbox.counters.count(of: .shed) >= 100)
        var left = 0
        while let item = inbox.intake.next() { left += item.body == own ? 1 : 0 }
        #expect(left == 100)
    }

    @Test("A body that does not come is given up after a few seconds, and one that comes slowly is not")
    func slow() throws {
        let limits = ListenerLimits()
        let grace = limits.bodyGrace
        #expect(limits.time(forBodyWith: 0, after: grace - .seconds(1)) == .seconds(1))
        #expect(limits.time(forBodyWith: 0, after: grace) == nil)
        #expect(limits.time(forBodyWith: 1_024, after: grace) == .seconds(2))
        #expect(limits.time(forBodyWith: 1 << 20, after: limits.bodyTime) == nil)
    }

    @Test("A bad chunk is answered at once, also while its report waits for its turn")
    func badChunk() async throws {
        let (site, inbox) = (try ServingSite(), try inbox())
        // Waiting for the time of a body would outlast this test.
        var settings = try ListenerSettings(port: 0)
        (settings.limits.bodyTime, settings.limits.bodyGrace) = (.hours(1), .hours(1))
        try await site.listening(settings, reports: inbox) { port in
            let chunked =
                "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
            for body in ["zz\r\n", "5\r\n[]\r\nxyz", "-1\r\n[]\r\n"] {
                let answer = RawAnswer(try await RawClient(port: port).exchange(chunked + body))
                #expect(answer.status == 400 && answer.header("Connection") == "close", "\(answer.text)")
            }
            #expect(inbox.intake.count == 0)
        }
    }

    /// The first answer while nothing more is sent.
    private func firstAnswer(_ port: Int, _ text: String) async throws -> RawAnswer {
        try await RawClient(port: port).connected { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var received = ByteBuffer()
            for try await buffer in inbound {
                received.writeImmutableBuffer(buffer)
                let answer = RawAnswer(String(buffer: received))
                guard let length = answer.header("Content-Length").flatMap({ Int($0) }),
                    answer.body.utf8.count >= length
                else { continue }
                break
            }
            return RawAnswer(String(buffer: received))
        }
    }
}
