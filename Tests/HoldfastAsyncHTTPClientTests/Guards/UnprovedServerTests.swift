import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A server that has proved nothing", .timeLimit(.minutes(15)))
struct UnprovedServerTests {
    /// A client's certificate and key, and a server that demands one.
    private func withClientKey(
        of setting: HTTPSetting, serving leaf: TestCertificate,
        _ body: (PinnedHTTPClient, TestOrigin) async throws -> Void
    ) async throws {
        let own = try setting.issuing.leaf(names: ["client"]) { $0.extendedKeyUsage = [.clientAuthentication] }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateChain = try own.chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) }
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: own.key.privateKeyDER, format: .der))
        var options = TestOrigin.Options()
        options.clientRoots = [setting.root.root]
        try await withOrigin(leaf, options: options) { origin in
            try await setting.withClient({ $0.tlsConfiguration = tls }) { try await body($0, origin) }
        }
    }

    @Test("and that is refused never sees the client's certificate, also not when the reason is looked for")
    func refused() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let stranger = try TestAuthority.root(name: "Stranger").leaf(names: ["www.example.com"])
        try await withClientKey(of: setting, serving: stranger) { client, origin in
            #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
            try await expectNoRequest(origin)
            #expect(origin.counters.clientCertificates == 0)
            #expect(origin.counters.handshakes == 0)
        }
    }

    @Test("and whose pin does not match does not see the client's certificate either")
    func pinMismatch() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
        try await withClientKey(of: setting, serving: try setting.leaf()) { client, origin in
            #expect(await client.refusal(origin.url())?.code == .pinMismatch)
            try await expectNoRequest(origin)
            #expect(origin.counters.accepted == 2)
            #expect(origin.counters.clientCertificates == 0)
            #expect(origin.counters.handshakes == 0)
        }
    }

    @Test("because it replays a chain without its key is told of to nobody as trusted", arguments: [true, false])
    func replayed(verifies: Bool) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf()
        if !verifies {
            // The leaf alone is enough then.
            let pins = try PinSet(pins: [setting.issuing.certificate.publicKeyPin()])
            setting.manager.add(
                policy: try PinnedPolicy(host: HostPattern("www.example.com"), pins: pins, certificatePinOnly: true))
        }
        let told = Lock<[Bool]>([])
        setting.manager.addObserver { one in told.withLock { $0.append(one.isTrusted) } }
        var options = TestOrigin.Options()
        options.key = ReplayedKey.privateKey
        try await withOrigin(leaf, options: options) { origin in
            try await setting.withClient { client in
                _ = await #expect(throws: NIOSSLError.self) { try await client.text(origin.url()) }
                try await expectNoRequest(origin)
            }
        }
        #expect(told.withLock { $0 } == [])
    }

    @Test("is told of after its handshake, and the decision says so")
    func proved() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let told = Lock<[Bool]>([])
        setting.manager.addObserver { one in told.withLock { $0.append(one.hasProofOfPossession) } }
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
        }
        #expect(told.withLock { $0 } == [true])
    }
}

@Suite("A policy that the leaf alone may satisfy", .timeLimit(.minutes(15)))
struct LeafAloneTests {
    @Test("is shown the whole chain before it refuses: its pins have expired and standard validation follows")
    func expiredPins() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        let pins = try PinSet(
            pins: [leaf.publicKeyPin()], until: setting.clock.now.addingTimeInterval(-60),
            afterExpiry: .standardValidation)
        let log = RecordingLog()
        let policy = try PolicyLog.$shared.withValue(log.policyLog) {
            try PinnedPolicy(host: HostPattern("www.example.com"), pins: pins, certificatePinOnly: true)
        }
        setting.manager.add(policy: policy)
        try await withOrigin(leaf) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
        }
        try await withOrigin(try TestAuthority.selfSigned(names: ["www.example.com"])) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
                try await expectNoRequest(origin)
            }
        }
        #expect(log.lines.count == 1 && log.lines.first?.contains("the pins have expired") == true)
    }

    @Test("is shown the whole chain before it refuses: a revocation list speaks of the leaf by its issuer")
    func revocationLists() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        setting.manager.add(
            policy: try PinnedPolicy(
                host: HostPattern("www.example.com"), pins: PinSet(pins: [leaf.publicKeyPin()]),
                certificatePinOnly: true))
        let lists = try [setting.issuing.revocationList(), setting.root.revocationList()].map {
            try CertificateRevocationList(der: $0)
        }
        try await withOrigin(leaf) { origin in
            try await setting.withClient(
                validator: PathValidator(anchors: setting.anchors(), revocation: .crls(lists, isRequired: true))
            ) {
                try await $0.expectAnswer(origin.url())
            }
        }
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let revoked = try setting.issuing.revocationList { $0.serialNumbers = [serial] }
        let withRevoked = try [revoked, setting.root.revocationList()].map { try CertificateRevocationList(der: $0) }
        try await withOrigin(leaf) { origin in
            try await setting.withClient(
                validator: PathValidator(anchors: setting.anchors(), revocation: .crls(withRevoked, isRequired: true))
            ) { client in
                #expect(await client.refusal(origin.url())?.code == .revoked)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("says what it judges; the others want a path, or the chain")
    func evidence() throws {
        let host = try HostPattern("www.example.com")
        let pins = try PinSet(pins: [Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")])
        let pinOnly = try PinnedPolicy(host: host, pins: pins, certificatePinOnly: true)
        let standard = StandardPolicy(host: host)
        #expect(pinOnly.evidence == .leaf)
        #expect(standard.evidence == .pathForHost)
        #expect(StandardPolicy(host: host, validatesHostName: false).evidence == .path)
        #expect(DisabledPolicy(host: host).evidence == .nothing)
        #expect(CustomPolicy(host: host) { _ in true }.evidence == .chain)
        #expect(try CompositePolicy(host: host, anyOf: [standard, pinOnly]).evidence == .leaf)
        #expect(try CompositePolicy(host: host, allOf: [standard, pinOnly]).evidence == .pathForHost)
        let manager = TrustManager(policies: [pinOnly])
        #expect(manager.policy(for: "www.example.com")?.evidence == .leaf)
    }
}
