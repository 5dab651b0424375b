import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

/// Seeded servers that send whatever HTTP has, in any order, behind the handshake and after a request, and then close.
/// A server that gets past the gates stops the process: AsyncHTTPClient's pool does not survive what it does not expect.
@Suite("A server with frames in any order")
struct HostileServerCampaign {
    /// `HOLDFAST_MUTANTS` asks for as many, 20,000 at most: each is a server, a client and two handshakes.
    private static let servers =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"]
        .flatMap { Int($0) }.map { min($0, 20_000) } ?? 500

    /// The generator of Steele, Lea and Flood: the same servers on every machine.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)).multipliedReportingOverflow(by: 0xBF58_476D_1CE4_E5B9).partialValue
            mixed = (mixed ^ (mixed >> 27)).multipliedReportingOverflow(by: 0x94D0_49BB_1331_11EB).partialValue
            return mixed ^ (mixed >> 31)
        }
    }

    private static func frame(_ dice: inout Dice, stream given: UInt32?) -> [UInt8] {
        let stream: UInt32 = given ?? [0, 1, 2, 3, 5, 0x7FFF_FFFF].randomElement(using: &dice) ?? 1
        switch Int.random(in: 0..<20, using: &dice) {
        case 0, 1: return HTTP2Octets.goAway(last: [0, 1, 0x7FFF_FFFF].randomElement(using: &dice) ?? 0)
        case 2: return HTTP2Octets.goAway(last: stream, code: UInt32.random(in: 0...14, using: &dice))
        case 3, 4: return HTTP2Octets.settings(streams: UInt32.random(in: 0...3, using: &dice))
        case 5: return HTTP2Octets.settings()
        case 6:
            let value: UInt32 = [0, 1, 65_535, 0x7FFF_FFFF, 0x8000_0000].randomElement(using: &dice) ?? 0
            return HTTP2Octets.settings([(UInt16.random(in: 1...9, using: &dice), value)])
        case 7: return HTTP2Octets.settingsAcknowledged
        case 8: return HTTP2Octets.ping(isAnswer: Bool.random(using: &dice))
        case 9, 10: return HTTP2Octets.reset(stream, code: UInt32.random(in: 0...13, using: &dice))
        case 11, 12: return HTTP2Octets.headers(stream, ends: Bool.random(using: &dice))
        // Status 100 (literal, name of index 8), 404 and 500 of the static table, and nothing.
        case 13:
            let blocks: [[UInt8]] = [[0x08, 0x03, 0x31, 0x30, 0x30], [0x8D], [0x8E], [], [0xFF]]
            return HTTP2Octets.headers(
                stream, ends: Bool.random(using: &dice), block: blocks.randomElement(using: &dice) ?? [])
        case 14, 15: return HTTP2Octets.data(stream, "data", ends: Bool.random(using: &dice))
        case 16:
            let count: UInt32 = [0, 1, 0x7FFF_FFFF].randomElement(using: &dice) ?? 0
            return HTTP2Octets.windowUpdate(stream, by: count)
        case 17: return HTTP2Octets.frame(5, flags: 4, stream: stream, [0, 0, 0, 2, 0x82])
        case 18: return HTTP2Octets.frame(9, flags: 4, stream: stream, [0x88])
        default:
            let kind = UInt8.random(in: 0...255, using: &dice)
            return HTTP2Octets.frame(
                kind, flags: UInt8.random(in: 0...255, using: &dice), stream: stream, [1, 2, 3, 4])
        }
    }

    private static let texts = [
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 ", "\r\n\r\n", "ok", "\0\u{1}\u{2}",
    ]

    private static func parts(_ version: String, _ dice: inout Dice, stream: UInt32?) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        for _ in 0..<Int.random(in: 0...5, using: &dice) {
            let part =
                version == "h2"
                ? frame(&dice, stream: Bool.random(using: &dice) ? stream : nil)
                : Array((texts.randomElement(using: &dice) ?? "").utf8)
            // In one write with what came before, or in one of its own.
            if let last = parts.indices.last, Bool.random(using: &dice) {
                parts[last] += part
            } else {
                parts.append(part)
            }
        }
        return parts
    }

    private static func script(_ version: String, seed: UInt64) -> ScriptedOrigin.Script {
        var dice = Dice(state: seed)
        var script = ScriptedOrigin.Script()
        script.greeting = parts(version, &dice, stream: nil)
        if version == "h2", Int.random(in: 0..<10, using: &dice) > 0 {
            let settings = HTTP2Octets.settings()
            script.greeting =
                script.greeting.isEmpty ? [settings] : [settings + script.greeting[0]] + script.greeting.dropFirst()
        }
        script.closesAfterGreeting = Int.random(in: 0..<8, using: &dice) == 0
        let answering = dice
        script.answer = { stream in
            var dice = answering
            var answer = Self.parts(version, &dice, stream: stream)
            if Bool.random(using: &dice) {
                let proper =
                    version == "h2"
                    ? HTTP2Octets.headers(stream) : Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)
                answer.insert(proper, at: 0)
            }
            return answer
        }
        script.closesAfterAnswer = Bool.random(using: &dice)
        // The server ends a connection that nothing else ends.
        script.lifetime = .milliseconds(250)
        return script
    }

    /// Ten minutes for the campaign of every run, and as much time for each server beyond that: eight at a time, of which
    /// each lives a quarter of a second.
    private static let minutes = 10 + servers / 400

    @Test(
        "kills nothing, trusted or refused, known or new", .timeLimit(.minutes(minutes)), arguments: ["h2", "http/1.1"])
    func everyOrder(version: String) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf("www.example.com", "api.example.com")
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
        let context = try ScriptedOrigin.context(leaf, protocols: [version])
        let width = 8
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<(Self.servers / 2) {
                if seed >= width { _ = try await group.next() }
                group.addTask { try await Self.meet(UInt64(seed), version, setting, leaf, context) }
            }
            try await group.waitForAll()
        }
    }

    private static func meet(
        _ seed: UInt64, _ version: String, _ setting: HTTPSetting, _ leaf: TestCertificate, _ context: NIOSSLContext
    ) async throws {
        let script = script(version, seed: seed)
        let isTrusted = seed % 2 == 0
        let isKnown = seed / 2 % 2 == 0
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .seconds(1)
        try await withScriptedOrigin(context, script: { _ in script }) { origin in
            try await setting.withClient(limits: limits, { $0.timeout.connect = .seconds(5) }) { client in
                if isKnown {
                    let chain = PresentedChain(leaf.chain)
                    let now = setting.clock.now
                    let decision = TrustDecision(.trusted, policyName: "", host: nil, time: now, chain: chain)
                    _ = client.evidence.remember(decision, about: chain, anchors: try setting.anchors())
                }
                let url = origin.url(host: isTrusted ? "www.example.com" : "api.example.com")
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<2 {
                        group.addTask {
                            var request = HTTPClientRequest(url: url)
                            if number == 1, seed % 3 == 0 { request.method = .POST }
                            if number == 1, seed % 3 == 0 {
                                request.body = .bytes(ByteBuffer(repeating: 7, count: 100_000))
                            }
                            // Whatever it ends with: it ends.
                            let response = try? await client.execute(request, timeout: .seconds(20))
                            _ = try? await response?.body.collect(upTo: 1 << 16)
                        }
                    }
                }
                if !isTrusted { #expect(origin.requests == 0, "seed \(seed)") }
            }
        }
    }
}
