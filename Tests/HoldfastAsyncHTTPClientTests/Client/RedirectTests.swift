import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A redirect", .timeLimit(.minutes(15)))
struct RedirectTests {
    /// Answers `/go` with a redirect to where a test says, once it knows where.
    private func answer(_ target: AnswerBox) -> TestOrigin.Answer {
        { $0.uri.hasPrefix("/go") ? target.reply : .init() }
    }

    private static let rules = {
        var rules = RedirectRules()
        rules.limit = 3
        rules.resendsBodies = true
        return rules
    }()

    @Test("is followed to a trusted host, without credentials, and the response tells the way")
    func followed() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.issuing.certificate.publicKeyPin()])
        let target = AnswerBox()
        try await withOrigin(try setting.leaf("api.example.com")) { second in
            try await withOrigin(try setting.leaf(), answer: answer(target)) { first in
                target.reply = .redirect(.temporaryRedirect, to: second.url("/there", host: "api.example.com"))
                try await setting.withClient(redirects: Self.rules) { client in
                    var request = HTTPClientRequest(url: first.url("/go"))
                    request.method = .POST
                    request.headers.add(name: "Authorization", value: "secret")
                    request.headers.add(name: "X-Other", value: "kept")
                    request.body = .bytes(ByteBuffer(string: "body"))
                    let response = try await client.execute(request, timeout: .minutes(5))
                    #expect(String(buffer: try await response.body.collect(upTo: 100)) == "ok")
                    #expect(
                        response.history.map(\.request.url) == [
                            first.url("/go"), second.url("/there", host: "api.example.com"),
                        ])
                    #expect(response.url?.absoluteString.hasSuffix("/there") == true)
                    let seen = second.counters.requests.first
                    #expect(seen?.body == "body")
                    #expect(seen?.headers["Authorization"] == [])
                    #expect(seen?.headers["X-Other"] == ["kept"])
                    #expect(first.counters.requests.first?.headers["Authorization"] == ["secret"])
                }
            }
        }
    }

    @Test("to a host that is refused gets no byte there")
    func refusedTarget() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
        let target = AnswerBox()
        try await withOrigin(try setting.leaf("api.example.com")) { second in
            try await withOrigin(try setting.leaf(), answer: answer(target)) { first in
                target.reply = .redirect(.found, to: second.url(host: "api.example.com"))
                try await setting.withClient(redirects: Self.rules) { client in
                    #expect(await client.refusal(first.url("/go"))?.code == .pinMismatch)
                    try await expectNoRequest(second)
                }
            }
        }
    }

    @Test("to an unknown host, or to http, does not even connect")
    func unknownTarget() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        setting.manager.add(policy: CustomPolicy(host: try HostPattern("api.example.com")) { _ in true })
        let target = AnswerBox()
        try await withOrigin(try setting.leaf()) { second in
            try await withOrigin(try setting.leaf(), answer: answer(target)) { first in
                try await setting.withClient(redirects: Self.rules) { client in
                    target.reply = .redirect(.found, to: second.url(host: "other.example.net"))
                    #expect(await client.refusal(first.url("/go"))?.code == .noPolicyForHost)
                    target.reply = .redirect(.found, to: second.url(host: "api.example.com", scheme: "http"))
                    #expect(await client.clientError(first.url("/go")) == .redirectToPlaintext)
                    #expect(second.counters.accepted == 0)
                }
            }
        }
    }

    @Test("is the answer when the body may not be sent again, and when redirects are not asked for")
    func notFollowed() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let reply = TestOrigin.Reply.redirect(.temporaryRedirect, to: "/there")
        try await withOrigin(try setting.leaf(), answer: { _ in reply }) { origin in
            try await setting.withClient(redirects: RedirectRules()) { client in
                var request = HTTPClientRequest(url: origin.url())
                request.method = .POST
                let parts = AsyncStream<ByteBuffer> { continuation in
                    continuation.yield(ByteBuffer(string: "body"))
                    continuation.finish()
                }
                request.body = .stream(parts, length: .unknown)
                let response = try await client.execute(request, timeout: .minutes(5))
                #expect(response.status == .temporaryRedirect)
                #expect(origin.counters.requests.map(\.body) == ["body"])
            }
            // The redirect setting of the configuration is ignored.
            try await setting.withClient({ $0.redirectConfiguration = .follow(max: 3, allowCycles: false) }) { client in
                let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
                #expect(response.status == .temporaryRedirect)
                #expect(origin.counters.requests.count == 2)
            }
        }
    }

    @Test("without end is an error after as many as the rules allow")
    func limit() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let answer: TestOrigin.Answer = { .redirect(.found, to: $0.uri + "x") }
        try await withOrigin(try setting.leaf(), answer: answer) { origin in
            try await setting.withClient(redirects: Self.rules) { client in
                await #expect(throws: HTTPClientError.redirectLimitReached) { _ = try await client.text(origin.url()) }
                #expect(origin.counters.requests.count == 4)
            }
        }
    }
}
