import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A server that is refused on sight", .timeLimit(.minutes(15)))
struct HostileServerTests {
    /// The frames that follow the first SETTINGS in one write.
    private static let hostile = ["GOAWAY", "SETTINGS", "both", "many"]

    private static func greeting(_ kind: String) -> [[UInt8]] {
        let settings = HTTP2Octets.settings()
        let fewer = HTTP2Octets.settings(streams: 7)
        let goAway = HTTP2Octets.goAway()
        return switch kind {
        case "GOAWAY": [settings + goAway]
        case "SETTINGS": [settings + fewer]
        case "both": [settings + fewer + goAway]
        default: [settings + (0..<1_000).flatMap { HTTP2Octets.settings(streams: $0 % 2 + 7) }]
        }
    }

    private static let answering = ScriptedOrigin.Script(
        greeting: [HTTP2Octets.settings()], answer: { [HTTP2Octets.headers($0)] })

    @Test("by the pins of its second host does not kill the client with what it sends then", arguments: hostile)
    func twoHosts(kind: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
        let context = try ScriptedOrigin.context(
            try setting.leaf("www.example.com", "api.example.com"), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in Self.answering }) { first in
            try await withScriptedOrigin(context, script: { _ in .init(greeting: Self.greeting(kind)) }) { second in
                try await setting.withClient { client in
                    _ = try await client.text(first.url())
                    let failure = await client.refusal(second.url(host: "api.example.com"))
                    #expect(failure?.code == .pinMismatch)
                    #expect(second.requests == 0)
                }
            }
        }
    }

    @Test("since it is not the host that it redirects to does not kill the client", arguments: hostile)
    func redirect(kind: String) async throws {
        let setting = try HTTPSetting()
        // TLS takes the address of the socket for a name of the host; Holdfast does not.
        let leaf = try setting.leaf("other.example.net", "127.0.0.1")
        let context = try ScriptedOrigin.context(leaf, protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in .init(greeting: Self.greeting(kind)) }) { second in
            let location = second.url(host: "api.example.com")
            var options = TestOrigin.Options()
            options.protocols = ["h2"]
            try await withOrigin(leaf, options: options, answer: { _ in .redirect(.found, to: location) }) { first in
                try await setting.withClient(unknownHosts: .standardValidation, redirects: RedirectRules()) { client in
                    let failure = await client.refusal(first.url(host: "other.example.net"))
                    #expect(failure?.code == .hostNameMismatch)
                    #expect(second.requests == 0)
                }
            }
        }
    }

    @Test("since its pin was withdrawn does not kill the client", arguments: hostile)
    func withdrawn(kind: String) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
        let context = try ScriptedOrigin.context(leaf, protocols: ["h2"])
        let script: @Sendable (Int) -> ScriptedOrigin.Script = { connection in
            connection == 1 ? Self.answering : .init(greeting: Self.greeting(kind))
        }
        try await withScriptedOrigin(context, script: script) { origin in
            try await setting.withClient { client in
                _ = try await client.text(origin.url())
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(origin.requests == 1)
            }
        }
    }

    @Test("does not kill the client with answers that nobody asked for, over HTTP/1.1", arguments: 1...3)
    func answersOutOfTurn(count: Int) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
        let answer = Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)
        let context = try ScriptedOrigin.context(
            try setting.leaf("www.example.com", "api.example.com"), protocols: ["http/1.1"])
        try await withScriptedOrigin(context, script: { _ in .init(answer: { _ in [answer] }) }) { first in
            let rude = ScriptedOrigin.Script(greeting: Array(repeating: answer, count: count))
            try await withScriptedOrigin(context, script: { _ in rude }) { second in
                try await setting.withClient { client in
                    _ = try await client.text(first.url())
                    let failure = await client.refusal(second.url(host: "api.example.com"))
                    #expect(failure?.code == .pinMismatch)
                    #expect(second.requests == 0)
                }
            }
        }
    }
}
