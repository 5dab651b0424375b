import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The disk, and the lists that people read: a stolen token could fill both.
@Suite("Limits of what a token may leave behind", .timeLimit(.minutes(5)))
struct AdministrationLimitTests {
    private static let next = "/v1/apps/bank/hosts/\(World.host)/next"

    private static func announcement() throws -> String {
        let pem = try CertificateRequestDraft(names: [HostPattern(World.host)]).pem(signedBy: SigningKey())
        return String(decoding: CanonicalJSON.object(["request": .text(pem)]).bytes, as: UTF8.self)
    }

    @Test(
        "A token announces a thousand times at once, then once a minute; a mistake takes none, and others have their own"
    )
    func announcements() async throws {
        try await AdministrationSite.run { site in
            let hand = ManualInstant()
            let rates = AdministrationRates(instant: { hand.value.withLock { $0 } })
            let responder = AdministrationResponder(
                publisher: site.world.publisher, counters: ListenerCounters(), health: { ServerHealth() }, rates: rates)
            func status(_ token: String, _ body: String) async throws -> UInt {
                let bearer = try #require(site.tokens[token]).secretText
                let headers: HTTPHeaders = ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"]
                let head = HTTPRequestHead(version: .http1_1, method: .PUT, uri: Self.next, headers: headers)
                let request = ListenerRequest(head: head, body: ByteBuffer(string: body), source: .unknown)
                return await responder.answer(request).status.code
            }
            // Takes all but the last from the limiter itself.
            for _ in 0..<999 { #expect(rates.takeAnnouncement("administer") == nil) }
            let mistake = try await status("administer", #"{"request":""}"#)
            #expect(mistake == 422)
            #expect(try await status("administer", try Self.announcement()) == 200)
            let head = site.world.catalog.ledger.chain.head
            #expect(try await status("administer", try Self.announcement()) == 429)
            #expect(site.world.catalog.ledger.chain.head == head)
            #expect(rates.takeAnnouncement("administer") == 60)
            #expect(try await status("propose", try Self.announcement()) == 200)
            hand.value.withLock { $0 += 60_000_000_000 }
            #expect(try await status("administer", try Self.announcement()) == 200)
        }
    }

    @Test("A host has at most 64 announcements; those whose certificate has expired make place for others")
    func announcementsOfAHost() async throws {
        try await World.run { world in
            func announce(_ key: P256.Signing.PrivateKey) async throws {
                try await world.catalog.announce(
                    key: Array(key.publicKey.derRepresentation), on: world.catalogHost, of: world.app, by: "owner")
            }
            func next() async throws -> AnnouncedCertificates {
                try await world.catalog.next(of: world.catalogHost, world.app)
            }
            let known = P256.Signing.PrivateKey()
            try await announce(known)
            // A chain was announced before.
            for _ in 0..<62 { try await announce(P256.Signing.PrivateKey()) }
            #expect(try await next().count == 64)
            await expectError(.constraint) { try await announce(P256.Signing.PrivateKey()) }
            await expectError(.constraint) {
                try await world.catalog.announce(
                    CertificateChain(world.shown.chain), from: world.now, on: world.catalogHost, of: world.app,
                    by: "owner")
            }
            try await announce(known)
            try await world.catalog.announce(
                CertificateChain(world.announced.chain), from: world.now, on: world.catalogHost, of: world.app,
                by: "owner")
            #expect(try await next().count == 64)
            world.clock.advance(by: .seconds(181 * 86_400))
            try await announce(P256.Signing.PrivateKey())
            let left = try await next()
            #expect(left.chains.isEmpty && left.keys.count == 64)
        }
    }

    @Test(
        "With a hundred open changes of an app no token proposes another; the command does, and one that ends makes place"
    )
    func openChanges() async throws {
        try await AdministrationSite.run { site in
            let (world, catalog) = (site.world, site.world.catalog)
            let content = try await world.draft()
            var generator = SystemRandomNumberGenerator()
            var changes: [RandomID] = []
            for _ in 0..<100 {
                changes.append(
                    try await catalog.propose(
                        content, outlook: Array(#"{"rows":[]}"#.utf8), forcing: [], proposer: nil, reason: "a flood",
                        by: "test", base: 0, using: &generator))
            }
            try await site.refuses(
                409, .constraint, "POST", "/v1/changes", token: "propose", body: AdministrationSite.proposal())
            let own = try await world.propose().change
            #expect(catalog.ledger.proposals[own] != nil)
            for change in changes.prefix(2) { try await catalog.lapse(change, because: "a test") }
            _ = try await site.propose()
            try await world.approve(own)
            #expect(try await world.publisher.publish(own) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("A document is fetched by its digest without a look at all others, even where one of them is damaged")
    func documents() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let list = try #require(world.publisher.live.current.document(at: "lists/bank.json".utf8)).bytes
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE document SET octets = $1 WHERE format LIKE 'trust/%'", [.bytes([1])])
            }
            let answer = try await site.call("GET", "/v1/documents/\(Digest(of: list))", token: "read")
            #expect(answer.status == 200 && Array(answer.body.utf8) == list, "\(answer.text)")
            try await site.refuses(404, .notFound, "GET", "/v1/documents/\(Digest(of: [1]))", token: "read")
        }
    }
}
