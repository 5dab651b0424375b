import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Announcements for a host: their rules, notices to others, and withdrawal.
@Suite("Announcements", .timeLimit(.minutes(10)))
struct AnnouncementTests {
    /// Announces a chain, and says why it was refused.
    private static func refusal(
        _ chain: [[UInt8]], in world: World, from begins: Int64? = nil, by actor: String = "token hook"
    ) async throws -> ServerError? {
        do throws(ServerError) {
            try await world.catalog.announce(
                CertificateChain(chain), from: begins ?? world.now + 120 * 86_400, on: world.catalogHost, of: world.app,
                by: actor)
            return nil
        } catch {
            return error
        }
    }

    @Test("Only the host's own certificate is announced: no authority's, other host's, weak, expired or unknown one")
    func chains() async throws {
        try await World.run { world in
            let issuing = try world.root.intermediate(name: "Issuing CA")
            let leaf = try issuing.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(300) }
            let before = world.catalog.ledger.chain.head
            let named = try world.root.intermediate(name: "Named CA") {
                $0.subjectAltName = [.dns(World.host)]
                $0.keyUsage = [.digitalSignature, .keyCertSign]
            }
            let weak = try issuing.leaf(names: [.dns(World.host)], key: .sharedRSA(bits: 1_024, index: 0))
            let old = try issuing.leaf(names: [.dns(World.host)]) {
                ($0.notBefore, $0.notAfter) = (.days(-9), .days(-2))
            }
            let cases: [(String, [[UInt8]])] = [
                ("notEndEntity", [issuing.certificate.der, leaf.der]), ("notEndEntity", [issuing.certificate.der]),
                ("notEndEntity", [world.root.root]), ("notEndEntity", named.certificate.chain),
                ("nameMismatch", try issuing.leaf(names: ["www.example.com"]).chain), ("weakKey", weak.chain),
                ("expired", old.chain), ("untrusted", [leaf.der]),
                ("untrusted", try TestAuthority.root(name: "Stranger").leaf(names: [.dns(World.host)]).chain),
            ]
            for (code, chain) in cases {
                let refusal = try #require(try await Self.refusal(chain, in: world), "\(code)")
                #expect(refusal.code == .invalidValue && refusal.found.contains(code), "\(code): \(refusal)")
            }
            #expect(world.catalog.ledger.chain.head == before)
            #expect(try await Self.refusal(leaf.chain, in: world) == nil)
            let next = try issuing.leaf(names: [.dns(World.host)]) { $0.notBefore = .days(20) }
            #expect(try await Self.refusal(next.chain, in: world) == nil)
            let curve = try TestKey(.sharedRSA(bits: 1_024, index: 0)).subjectPublicKeyInfoDER
            await #expect(throws: ServerError.self) {
                try await world.catalog.announce(key: curve, on: world.catalogHost, of: world.app, by: "owner")
            }
        }
    }

    @Test("An announcement that is not the host's own anymore holds up no publication, and is in no draft")
    func unfit() async throws {
        try await World.run { world in
            // As an earlier version took it.
            let stranger = try TestAuthority.root(name: "Stranger").leaf(names: [.dns(World.host)])
            try await Self.writeUnchecked(stranger.chain, from: world.now + 3_600, in: world)
            let scene = try await world.catalog.scene(of: world.app)
            let content = try await world.draft { $0.formats = World.fewFormats }
            let digest = Digest(of: stranger.der)
            #expect(!content.hosts.flatMap(\.certificates).contains { $0.fingerprint == digest })
            #expect(scene.origins(of: content).contains { $0.contains("\(digest)") && $0.contains("left out, since") })
            try await world.publish(content)
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
            // The gate also checks a content that was written by hand.
            let hosts = try content.hosts.map { host in
                try ContentHost(
                    name: host.name, port: host.port,
                    certificates: host.certificates + [.init(fingerprint: digest, expires: world.now + 86_400)],
                    keys: host.keys)
            }
            let forged = try Content(
                app: content.app, hosts: hosts, formats: content.formats, end: content.end)
            let report = try await world.propose(forged).report
            #expect(report.results.last?.gate == .validation)
            #expect(report.results.last?.refusals.contains { $0.contains("is not the host's own") } == true)
        }
    }

    /// The reasons for which the first gate refuses a content.
    private static func faults(of content: Content, in world: World) async throws -> [String] {
        try await world.propose(content).report.results.first { $0.gate == .validation }?.refusals ?? []
    }

    private static func content(
        _ content: Content, adding key: [UInt8], _ role: ContentHost.Key.Role = .leaf
    ) throws -> Content {
        let hosts = try content.hosts.map { host in
            try ContentHost(
                name: host.name, port: host.port, certificates: host.certificates,
                keys: host.keys + [.init(pin: Digest(of: key), role: role, state: .backup)])
        }
        return try Content(
            app: content.app, hosts: hosts, formats: content.formats, end: content.end)
    }

    @Test("The key of an authority that certifies what a host presents is not published as the host's own")
    func authority() async throws {
        try await World.run { world in
            let issuing = try world.root.intermediate(name: "Issuing CA")
            try await world.see(issuing.leaf(names: [.dns(World.host)]), at: "192.0.2.7")
            let draft = try await world.draft {
                $0.formats = World.fewFormats
                $0.includesSeen = false
            }
            let key = try issuing.certificate.subjectPublicKeyInfo
            let faults = try await Self.faults(of: Self.content(draft, adding: key), in: world)
            #expect(faults.contains { $0.contains("is that of the authority CN=Issuing CA") }, "\(faults)")
            #expect(try await Self.faults(of: Self.content(draft, adding: key, .issuer), in: world) == [])
        }
    }

    @Test("A hostile host that presents its owner's next certificate and key as issuers holds up no publication")
    func presentedIssuers() async throws {
        try await World.run { world in
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(200) }
            #expect(try await Self.refusal(next.chain, in: world) == nil)
            // Public keys are public: anyone can make an authority's certificate with one, and sign nothing with it.
            let stranger = try TestAuthority.root(name: "Stranger")
            let copy = try stranger.intermediate(name: "Copy", key: .existing(next.key))
            let leaf = try stranger.leaf(names: [.dns(World.host)])
            let chain = try CertificateChain([leaf.der, next.der, copy.certificate.der])
            let seen = Observation(
                vantage: Vantage.usual, address: "192.0.2.66", chain: chain, firstSeen: world.now, lastSeen: world.now)
            try await world.catalog.note(
                [(host: world.catalogHost, seen: [seen])], from: Vantage.usual, of: world.app, by: "test")
            let content = try await world.draft {
                $0.formats = World.fewFormats
                $0.includesSeen = false
            }
            #expect(content.hosts.flatMap(\.certificates).contains { $0.fingerprint == Digest(of: next.der) })
            #expect(try await Self.faults(of: content, in: world) == [])
        }
    }

    /// Writes an announcement as a version did that checked nothing.
    private static func writeUnchecked(_ chain: [[UInt8]], from begins: Int64, in world: World) async throws {
        let chain = try CertificateChain(chain)
        try await world.catalog.transact { step throws(ServerError) in
            let id = try Catalog.id(of: world.catalogHost, world.app, step.session, step.ledger)
            let old = try Catalog.next(id, world.catalogHost, world.app, step.session, step.ledger)
            try Catalog.store(chain, step.session)
            try step.session.run(
                "INSERT INTO next_chain (host_id, chain_digest, begins_at, announced_at) VALUES ($1, $2, $3, $4)",
                [.integer(id), .bytes(chain.digest.bytes), .integer(begins), .integer(step.now)])
            let chains = (old.chains + [.init(chain, from: begins)]).sorted { $0.begins < $1.begins }
            let next = AnnouncedCertificates(chains: chains, keys: old.keys, origins: old.origins)
            try step.set(world.app, "next \(world.catalogHost.label)", next.bytes, by: "operator")
        }
    }

    @Test("A change that leaves out what was announced is published, and approvers read that it does")
    func leftOut() async throws {
        try await World.run { world in
            let before = try await world.draft { $0.formats = World.fewFormats }
            let rogue = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await Self.refusal(rogue.chain, in: world, from: world.now + 60) == nil)
            let origins = try await world.catalog.origins(of: before)
            #expect(origins.contains { $0.contains("\(Digest(of: rogue.der))") && $0.contains("by token hook") })
            try await world.publish(before)
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
        }
    }

    @Test("Approvers see by whom and when each new pin was announced, and where it was seen, or that it never was")
    func origins() async throws {
        try await World.run { world in
            let next = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await Self.refusal(next.chain, in: world) == nil)
            let key = try Array(SigningKey().subjectPublicKeyInfo)
            try await world.catalog.announce(key: key, on: world.catalogHost, of: world.app, by: "alice")
            let lines = try await world.catalog.origins(of: try await world.draft { $0.formats = World.fewFormats })
            let time = try #require(UTCText.encode(world.now))
            func line(_ digest: Digest) throws -> String { try #require(lines.first { $0.contains("\(digest)") }) }
            #expect(try line(Digest(of: next.der)).hasSuffix("announced by token hook at \(time); never seen"))
            #expect(try line(Digest(of: key)).contains("announced as a key by alice at \(time); never seen"))
            #expect(try line(Digest(of: world.shown.der)).contains("; seen at "))
        }
    }

    @Test("One announcement is withdrawn by its certificate or its key, and the others stay")
    func withdrawn() async throws {
        try await World.run { world in
            let (one, other) = (
                try world.root.leaf(names: [.dns(World.host)]), try world.root.leaf(names: [.dns(World.host)])
            )
            let key = try Array(SigningKey().subjectPublicKeyInfo)
            func announce() async throws {
                for leaf in [one, other] { #expect(try await Self.refusal(leaf.chain, in: world) == nil) }
                try await world.catalog.announce(key: key, on: world.catalogHost, of: world.app, by: "alice")
            }
            func withdraw(_ digest: Digest) async throws {
                try await world.catalog.withdraw(digest, on: world.catalogHost, of: world.app, by: "alice")
            }
            func leaves() async throws -> [[UInt8]] {
                try await world.catalog.next(of: world.catalogHost, world.app).chains.map { $0.chain.certificates[0] }
            }
            let count = try await leaves().count
            for digest in [Digest(of: one.der), Digest(of: try one.subjectPublicKeyInfo)] {
                try await announce()
                try await withdraw(digest)
                let left = try await leaves()
                #expect(!left.contains(one.der) && left.contains(other.der) && left.count == count + 1)
            }
            try await withdraw(Digest(of: key))
            #expect(try await world.catalog.next(of: world.catalogHost, world.app).keys.isEmpty)
            await #expect(throws: ServerError.self) { try await withdraw(Digest(of: key)) }
        }
    }
}
