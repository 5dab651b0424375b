import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A pooled connection", .timeLimit(.minutes(15)))
struct ConnectionEndTests {
    @Test("ends when its host's policy gets stricter, before any further request")
    func stricterPolicy() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                let bytes = origin.counters.plaintextBytes
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                // No request is needed for it.
                try await origin.waitForDisconnection()
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(origin.counters.plaintextBytes == bytes)
            }
        }
    }

    @Test("carries no request that comes at once after the policy got stricter", arguments: 0..<5)
    func immediately(_: Int) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(origin.counters.requests.count == 1)
            }
        }
    }

    @Test("ends with the request on it when its policy gets stricter")
    func busy() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), answer: { _ in .init(stalls: true) }) { origin in
            try await setting.withClient { client in
                let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                try await origin.waitForDisconnection()
                await #expect(throws: (any Error).self) { _ = try await response.body.collect(upTo: 1_000) }
            }
        }
    }

    @Test("ends when the policy of its host is removed")
    func removedPolicy() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                setting.manager.removePolicy(name: "www.example.com")
                try await origin.waitForDisconnection()
                #expect(await client.refusal(origin.url())?.code == .noPolicyForHost)
            }
        }
    }

    @Test("stays when the new policy accepts its server, and when another host's changes")
    func sameVerdict() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
                try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
                try await client.expectAnswer(origin.url())
                #expect(origin.counters.accepted == 2)
            }
        }
    }

    @Test("is judged anew, without a handshake, when a policy that validated nothing is replaced")
    func replacedByStandard() async throws {
        let setting = try HTTPSetting()
        setting.manager.add(policy: CustomPolicy(host: try HostPattern("www.example.com")) { _ in true })
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try setting.trust("www.example.com")
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(1)
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
            }
        }
    }

    @Test("outlives the evidence about its server, which is judged anew without a handshake")
    func lifetime() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let (decisions, told) = AsyncStream.makeStream(of: TrustDecision.self)
        setting.manager.addObserver { told.yield($0) }
        var limits = PinnedHTTPClient.Limits()
        limits.evidenceLifetime = .milliseconds(20)
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient(limits: limits) { client in
                try await client.expectAnswer(origin.url())
                var iterator = decisions.makeAsyncIterator()
                for _ in 0..<5 { #expect(await iterator.next()?.isTrusted == true) }
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(1)
                #expect(origin.counters.accepted == 2)
            }
        }
    }

    @Test("serves its response to the end when the evidence ends meanwhile, and nothing else")
    func lifetimeWhileBusy() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf { $0.notAfter = .hours(1) }
        try await withOrigin(leaf, answer: { .init(stalls: $0.uri == "/stall") }) { origin in
            try await setting.withClient { client in
                let response = try await client.execute(
                    HTTPClientRequest(url: origin.url("/stall")), timeout: .minutes(5))
                setting.clock.advance(by: .seconds(3_700))
                #expect(await client.refusal(origin.url())?.code == .expired)
                #expect(origin.counters.requests.count == 1)
                var iterator = response.body.makeAsyncIterator()
                let part = try await iterator.next()
                #expect(part.map { String(buffer: $0) } == "ok")
            }
        }
    }

    @Test("is used no more when a certificate of its path has ended")
    func notAfter() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf { $0.notAfter = .hours(1) }) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                setting.clock.advance(by: .seconds(3_700))
                #expect(await client.refusal(origin.url())?.code == .expired)
                try await origin.waitForDisconnection()
                #expect(origin.counters.requests.count == 1)
            }
        }
    }

    @Test("is judged by new anchors as soon as there are some")
    func newAnchors() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let anchors = AnchorBox(try setting.anchors())
        let store = try await TrustAnchorStore { anchors.current }
        let client = try PinnedHTTPClient(
            manager: setting.manager, validator: PathValidator(anchors: store), configuration: setting.configuration)
        try await withOrigin(try setting.leaf()) { origin in
            try await client.expectAnswer(origin.url())
            anchors.current = try TrustAnchors(der: [TestAuthority.root(name: "Stranger").root])
            try await store.reload()
            #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
            try await origin.waitForDisconnection()
            #expect(origin.counters.requests.count == 1)
            try await client.shutdown()
        }
    }

    @Test("ends by itself when a new revocation list names its server", arguments: [false, true])
    func newList(isLeafEnough: Bool) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        let lists = ListService()
        lists.publish(try setting.issuing.revocationList())
        let store = try lists.store(of: setting)
        try await store.prepare()
        try setting.trust("www.example.com", pins: isLeafEnough ? [leaf.publicKeyPin()] : [])
        let validator = PathValidator(anchors: try setting.anchors(), revocation: store)
        try await withOrigin(leaf) { origin in
            try await setting.withClient(validator: validator) { client in
                try await client.expectAnswer(origin.url())
                let serials = try (setting.leaf().serialNumber(), leaf.serialNumber())
                lists.publish(try setting.issuing.revocationList { $0.serialNumbers = [serials.0] })
                try await store.update(mode: .forced)
                try await client.expectAnswer(origin.url())
                #expect(origin.counters.requests.count == 2)

                lists.publish(try setting.issuing.revocationList { $0.serialNumbers = [serials.1] })
                try await store.update(mode: .forced)
                // No request is sent meanwhile.
                try await origin.waitForDisconnection()
                #expect(await client.refusal(origin.url())?.code == .revoked)
                #expect(origin.counters.requests.count == 2)
            }
        }
    }

    @Test("of the origin that was not used for longest makes room for another; origins in use are not ended")
    func bound() async throws {
        let setting = try HTTPSetting()
        for host in HTTPSetting.names { try setting.trust(host) }
        let leaf = try setting.leaf("www.example.com", "api.example.com", "other.example.net")
        var limits = PinnedHTTPClient.Limits()
        limits.origins = 2
        try await withOrigin(leaf, answer: { .init(stalls: $0.uri == "/stall") }) { origin in
            try await setting.withClient(limits: limits) { client in
                try await client.expectAnswer(origin.url())
                try await client.expectAnswer(origin.url(host: "api.example.com"))
                try await client.expectAnswer(origin.url())
                try await client.expectAnswer(origin.url(host: "other.example.net"))
                // For each a connection and evidence; one origin and the evidence are gone.
                try await origin.wait { $0.accepted == 6 && $0.closed == 4 }
                let stall = HTTPClientRequest(url: origin.url("/stall"))
                let other = HTTPClientRequest(url: origin.url("/stall", host: "other.example.net"))
                let held = try await (
                    client.execute(stall, timeout: .minutes(5)), client.execute(other, timeout: .minutes(5))
                )
                #expect(await client.clientError(origin.url(host: "api.example.com")) == .tooManyOrigins)
                withExtendedLifetime(held) {}
            }
        }
    }

    @Test("and its client are gone when nobody used them for the idle time")
    func idle() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient({ $0.connectionPool.idleTimeout = .milliseconds(50) }) { client in
                try await client.expectAnswer(origin.url())
                try await origin.waitForDisconnection()
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(2)
                // The evidence is still there.
                #expect(origin.counters.accepted == 3)
            }
        }
    }
}
