import AsyncHTTPClient
import Holdfast
import HoldfastTesting
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A request", .timeLimit(.minutes(15)))
struct RequestTests {
    @Test("streams its body to the server, and the response's to the caller", arguments: ["http/1.1", "h2"])
    func streaming(protocol name: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        var options = TestOrigin.Options()
        options.protocols = [name]
        let part = String(repeating: "x", count: 10_000)
        try await withOrigin(
            try setting.leaf(), options: options, answer: { _ in .init(body: part, repetitions: 300) }
        ) { origin in
            try await setting.withClient { client in
                var request = HTTPClientRequest(url: origin.url())
                request.method = .POST
                let parts = AsyncStream<ByteBuffer> { continuation in
                    for _ in 0..<300 { continuation.yield(ByteBuffer(string: part)) }
                    continuation.finish()
                }
                request.body = .stream(parts, length: .unknown)
                let response = try await client.execute(request, timeout: .minutes(5))
                #expect(response.version == (name == "h2" ? .http2 : .http1_1))
                var count = 0
                for try await part in response.body { count += part.readableBytes }
                #expect(count == 3_000_000)
                #expect(origin.counters.requests.first?.bodyBytes == 3_000_000)
            }
        }
    }

    @Test("ends at its deadline, with AsyncHTTPClient's error")
    func deadline() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(isSilent: true) }) { origin in
            try await setting.withClient { client in
                let request = HTTPClientRequest(url: origin.url())
                await #expect(throws: HTTPClientError.deadlineExceeded) {
                    _ = try await client.execute(request, timeout: .milliseconds(500))
                }
            }
        }
    }

    @Test("has a deadline for the head of the response alone: the body may be read later")
    func bodyAfterDeadline() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        // More than the buffers of both ends, so that the body is still under way.
        let part = String(repeating: "x", count: 10_000)
        try await withOrigin(try setting.leaf(), answer: { _ in .init(body: part, repetitions: 2_000) }) { origin in
            try await setting.withClient { client in
                let deadline = NIODeadline.now() + .seconds(10)
                let response = try await client.execute(HTTPClientRequest(url: origin.url()), deadline: deadline)
                let loop = client.eventLoopGroup.any()
                try await loop.scheduleTask(deadline: deadline + .milliseconds(100)) {}.futureResult.get()
                var count = 0
                for try await part in response.body { count += part.readableBytes }
                #expect(count == 20_000_000)
            }
        }
    }

    @Test("ends with its task")
    func cancellation() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(isSilent: true) }) { origin in
            try await setting.withClient { client in
                let url = origin.url()
                let task = Task { try await client.text(url) }
                try await origin.wait { !$0.requests.isEmpty }
                task.cancel()
                await #expect(throws: (any Error).self) { _ = try await task.value }
                try await origin.waitForDisconnection()
            }
        }
    }

    @Test("that nobody waits for anymore ends its connection when the body is let go of")
    func abandonedBody() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(stalls: true) }) { origin in
            try await setting.withClient { client in
                do { _ = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5)) }
                try await origin.waitForDisconnection()
            }
        }
    }

    @Test("may not bring TLS settings that weaken the policy")
    func weakTLS() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let root = try NIOSSLCertificate(bytes: setting.root.root, format: .der)
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                for verification: CertificateVerification in [.none, .optionalVerification] {
                    let code = await client.clientError(origin.url()) { request in
                        request.tlsConfiguration = .makeClientConfiguration()
                        request.tlsConfiguration?.certificateVerification = verification
                    }
                    #expect(code == .tlsConfigurationRefused)
                }
                let code = await client.clientError(origin.url()) { request in
                    request.tlsConfiguration = .makeClientConfiguration()
                    request.tlsConfiguration?.trustRoots = .certificates([root])
                }
                #expect(code == .tlsConfigurationRefused)
                #expect(origin.counters.accepted == 0)
            }
        }
    }

    @Test("may bring a client certificate, without which evidence is collected")
    func clientCertificate() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let own = try setting.issuing.leaf(names: ["client"]) { $0.extendedKeyUsage = [.clientAuthentication] }
        let chain = try own.chain.map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        let key = try NIOSSLPrivateKey(bytes: own.key.privateKeyDER, format: .der)
        var options = TestOrigin.Options()
        options.clientRoots = [setting.root.root]
        try await withOrigin(try setting.leaf(), options: options) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url()) { request in
                    request.tlsConfiguration = .makeClientConfiguration()
                    request.tlsConfiguration?.certificateChain = chain
                    request.tlsConfiguration?.privateKey = .privateKey(key)
                }
                #expect(origin.counters.clientCertificates == 1)
                // Not with the connection of one that has it.
                await #expect(throws: (any Error).self) { _ = try await client.text(origin.url()) }
                #expect(origin.counters.requests.count == 1)
            }
        }
    }

    @Test("goes through the application's own initializer after the decision, and only then")
    func ownInitializer() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let calls = Lock(0)
        struct OwnError: Error {}
        try await withOrigin(try setting.leaf()) { origin in
            try await withOrigin(try setting.leaf("api.example.com")) { refused in
                try await setting.withClient({ configuration in
                    configuration.http1_1ConnectionDebugInitializer = { channel in
                        let call = calls.withLock { calls in
                            calls += 1
                            return calls
                        }
                        return call == 1
                            ? channel.eventLoop.makeSucceededVoidFuture()
                            : channel.eventLoop.makeFailedFuture(OwnError())
                    }
                }) { client in
                    try await client.expectAnswer(origin.url())
                    #expect(await client.refusal(refused.url())?.code == .hostNameMismatch)
                    #expect(calls.withLock { $0 } == 1)
                    try setting.trust("api.example.com")
                    await #expect(throws: OwnError.self) {
                        _ = try await client.text(refused.url(host: "api.example.com"))
                    }
                    try await expectNoRequest(refused)
                }
            }
        }
    }

    @Test("tells its logger of redirects and refusals, and hands it on")
    func logger() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let log = RecordingLog()
        let reply = TestOrigin.Reply.redirect(.found, to: "https://api.example.com/")
        try await withOrigin(try setting.leaf(), answer: { _ in reply }) { origin in
            try await setting.withClient(redirects: RedirectRules()) { client in
                _ = await #expect(throws: TrustFailure.self) {
                    _ = try await client.execute(
                        HTTPClientRequest(url: origin.url()), timeout: .minutes(5), logger: log.logger)
                }
            }
        }
        let lines = log.lines
        #expect(lines.contains { $0.contains("following a redirect") })
        #expect(lines.contains { $0.contains("not trusted") && $0.contains("noPolicyForHost") })
        // AsyncHTTPClient's own.
        #expect(lines.contains { $0.contains("ahc-") })
    }

    @Test("fails once the client is shut down; one in flight fails with the shutdown")
    func shutdown() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(stalls: true) }) { origin in
            let client = try setting.client()
            let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
            try await client.shutdown()
            try await origin.waitForDisconnection()
            await #expect(throws: (any Error).self) { _ = try await response.body.collect(upTo: 1_000) }
            await #expect(throws: HTTPClientError.alreadyShutdown) { _ = try await client.text(origin.url()) }
            await #expect(throws: HTTPClientError.alreadyShutdown) { try await client.shutdown() }
            #expect(client.clients.all.isEmpty)
        }
    }

    @Test("in flight comes to its end in a shutdown that waits")
    func gracefulShutdown() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let answer: TestOrigin.Answer = { _ in .init(body: String(repeating: "x", count: 100_000), repetitions: 100) }
        try await withOrigin(try setting.leaf(), answer: answer) { origin in
            let client = try setting.client()
            let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
            async let end: Void = client.shutdown(waitingAtMost: .seconds(300))
            var count = 0
            for try await part in response.body { count += part.readableBytes }
            #expect(count == 10_000_000)
            try await end
            try await origin.waitForDisconnection()
        }
    }

    @Test("in flight does not hold up a shutdown for longer than it may")
    func impatientShutdown() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(stalls: true) }) { origin in
            let client = try setting.client()
            let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
            try await client.shutdown(waitingAtMost: .milliseconds(10))
            try await origin.waitForDisconnection()
            withExtendedLifetime(response) {}
        }
    }

    @Test("leaves nothing open when its client is let go of without a shutdown")
    func abandonedClient() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            do {
                let client = try setting.client()
                try await client.expectAnswer(origin.url())
            }
            try await origin.waitForDisconnection()
        }
    }
}
