import Foundation
import NIOCore
import Testing

@testable import PinPublication
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Requests that strangers may send to the public listener.
@Suite("Hostile requests", .timeLimit(.minutes(5)))
struct HostileRequestTests {
    private static let host = "Host: pins.example.net\r\n"

    /// One request, told apart by its name: the log of the tests has no room for its text.
    private struct Request: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let statuses: [Int]
    }

    private func site() throws -> ServingSite {
        let site = try ServingSite()
        site.publish(
            documents: [
                "lists/bank.json": ServingSite.document(Array("list".utf8)),
                "lists/large.json": ServingSite.document([UInt8](repeating: 0x61, count: 8 << 20)),
            ], apps: [try site.app()])
        return site
    }

    /// Each must be refused, and the server must go on.
    @Test(
        "are refused with an error, and the connection ends",
        arguments: [
            (
                "both lengths",
                "GET / HTTP/1.1\r\n\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400, 413]
            ),
            ("two lengths", "GET / HTTP/1.1\r\n\(host)Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", [400, 413]),
            ("a negative length", "GET / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", [400]),
            (
                "a length beyond all numbers",
                "GET / HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999999\r\n\r\n", [400]
            ),
            ("a body", "GET / HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello", [413]),
            (
                "a chunked body", "GET / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                [413]
            ),
            (
                "another coding", "GET / HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                [400, 413]
            ),
            ("a folded header", "GET / HTTP/1.1\r\n\(host)X: a\r\n b\r\nConnection: close\r\n\r\n", [400, 404]),
            ("a space before the colon", "GET / HTTP/1.1\r\n\(host)Content-Length : 3\r\n\r\n", [400]),
            ("NUL in a header", "GET / HTTP/1.1\r\n\(host)X: a\0b\r\n\r\n", [400]),
            ("NUL in the address", "GET /lists/bank.json\0 HTTP/1.1\r\n\(host)\r\n", [400]),
            ("no host", "GET / HTTP/1.1\r\n\r\n", [400]),
            ("two hosts", "GET / HTTP/1.1\r\n\(host)\(host)\r\n", [400]),
            ("a large header", "GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 20_000))\r\n\r\n", [431]),
            ("many headers", "GET / HTTP/1.1\r\n\(host)\(String(repeating: "X: a\r\n", count: 200))\r\n", [431]),
            (
                "a large address", "GET /\(String(repeating: "a", count: 30_000)) HTTP/1.1\r\n\(host)\r\n",
                [400, 414, 431]
            ),
            ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 505]),
            ("no HTTP", "\u{16}\u{3}\u{1} hello\r\n\r\n", [400]),
            (
                "an upgrade",
                "GET /lists/bank.json HTTP/1.1\r\n\(host)Upgrade: websocket\r\nConnection: upgrade\r\n\r\n", [200]
            ),
            ("a tunnel", "CONNECT pins.example.net:443 HTTP/1.1\r\n\(host)\r\n", [400, 405]),
        ].map { Request(testDescription: $0, text: $1, statuses: $2) })
    private func refused(_ request: Request) async throws {
        let site = try site()
        try await site.listening { port in
            let answer = RawAnswer(try await RawClient(port: port).exchange(request.text))
            #expect(
                request.statuses.contains(answer.status), "\(request.testDescription): \(answer.text.prefix(200))")
            #expect(answer.text.components(separatedBy: "HTTP/1.1 ").count == 2, "more than one answer: \(answer.text)")
            #expect(try await RawClient(port: port).get("/lists/bank.json").body == "list")
        }
    }

    @Test("Requests that are sent at once are answered one after another, in their order")
    func pipelined() async throws {
        let site = try site()
        try await site.listening { port in
            let one = "GET /lists/bank.json HTTP/1.1\r\n\(Self.host)\r\n"
            let two = "GET /nothing HTTP/1.1\r\n\(Self.host)\r\n"
            let last = "GET /lists/bank.json HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n"
            let text = try await RawClient(port: port).exchange(one + two + one + last)
            let statuses = text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
            #expect(statuses == ["200", "404", "200", "200"], "\(text)")
        }
    }

    @Test("Who sends requests and reads no answers is not read, and is let go after a time")
    func unread() async throws {
        let site = try site()
        var settings = try ListenerSettings(port: 0)
        settings.limits.answerTime = .milliseconds(300)
        // 8 MiB have 512 seconds by the length alone.
        settings.limits.answerBytesPerSecond = 1 << 24
        try await site.listening(settings) { port in
            let request = "GET /lists/large.json HTTP/1.1\r\n\(Self.host)\r\n"
            let received = try await RawClient(port: port).connected { _, outbound in
                var sent = 0
                do {
                    // More than sockets buffer.
                    while sent < 1 << 28 {
                        let bytes = ByteBuffer(string: String(repeating: request, count: 1_000))
                        try await outbound.write(bytes)
                        sent += bytes.readableBytes
                    }
                } catch {
                    return sent
                }
                return Int.max
            }
            #expect(received < 1 << 27)
            #expect(try await RawClient(port: port).get("/lists/bank.json").body == "list")
        }
    }

    @Test("Who sends a head byte by byte is let go after a time, however busily", arguments: [true, false])
    func slowHead(_ begins: Bool) async throws {
        let site = try site()
        var settings = try ListenerSettings(port: 0)
        settings.limits.waiting = .milliseconds(300)
        // Only time is to end it.
        settings.limits.headerBytes = 1 << 30
        settings.limits.headerFields = 1 << 30
        try await site.listening(settings) { port in
            let text = try await RawClient(port: port).connected { inbound, outbound in
                // On a busy machine the server may have hung up before anything was said.
                if begins { try? await outbound.write(ByteBuffer(string: "GET /lists/bank.json HTTP/1.1\r\n")) }
                var text = ""
                async let writing: Void = {
                    // A header that never ends; it ends when the server hangs up.
                    while begins, (try? await outbound.write(ByteBuffer(string: "X: y\r\n"))) != nil {}
                }()
                do { for try await buffer in inbound { text += String(buffer: buffer) } } catch is IOError {}
                await writing
                return text
            }
            #expect(text.isEmpty, "\(text)")
        }
    }

    @Test("One source has only so many connections, and others have theirs")
    func connections() async throws {
        let site = try site()
        var settings = try ListenerSettings(port: 0)
        settings.limits.connectionsPerSource = 3
        settings.limits.connections = 5
        try await site.listening(settings) { port in
            let client = RawClient(port: port)
            try await client.connected { _, _ in
                try await client.connected { first, outbound in
                    try await outbound.write(ByteBuffer(string: "GET /health/live HTTP/1.1\r\n\(Self.host)\r\n"))
                    var answers = first.makeAsyncIterator()
                    #expect(try await answers.next() != nil)
                    try await client.connected { third, outbound in
                        try await outbound.write(ByteBuffer(string: "GET /health/live HTTP/1.1\r\n\(Self.host)\r\n"))
                        var answers = third.makeAsyncIterator()
                        #expect(try await answers.next() != nil)
                        #expect(try await client.get("/health/live").text.isEmpty)
                        #expect(try await RawClient(port: port, from: "127.0.7.1").get("/health/live").status == 200)
                    }
                }
            }
            // Connections that ended are not counted.
            try await eventually("it answers again") { try await client.get("/health/live").status == 200 }
        }
    }

    @Test("Nothing that was changed in a request stops the server or makes it say something twice")
    func damagedRequests() async throws {
        let site = try site()
        var settings = try ListenerSettings(port: 0)
        settings.limits.waiting = .milliseconds(200)
        settings.limits.lingering = .milliseconds(50)
        try await site.listening(settings) { port in
            let request = Array(
                ("GET /app/init?appName=bank&appVersion=1.2.3&osVersion=17&platform=IOS HTTP/1.1\r\n\(Self.host)"
                    + "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw==\r\nAccept-Language: en\r\n"
                    + "Connection: close\r\n\r\n").utf8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(worker) &+ 0x5EED)
                        defer { noteCampaign(of: max(25, mutants / 400)) }
                        for _ in 0..<max(25, mutants / 400) {
                            let text = try await RawClient(port: port).exchange(mutated(request, &generator))
                            let count = text.components(separatedBy: "HTTP/1.1 ").count - 1
                            #expect(count <= 2, "\(text)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await RawClient(port: port).get("/lists/bank.json").body == "list")
        }
    }
}
