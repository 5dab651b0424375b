import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastAsyncHTTPClient

@Suite("What TLS verifies before the policy decides", .timeLimit(.minutes(15)))
struct VerificationTests {
    private static let pin = "sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw="

    private func host() throws -> HostPattern { try HostPattern("www.example.com") }

    private func pinned(
        validatesHostName: Bool = true, pinOnly: Bool = false, enforcement: PinSet.Enforcement = .enforce
    ) throws -> PinnedPolicy {
        try PinnedPolicy(
            host: host(), pins: PinSet(pins: [Pin(Self.pin)], enforcement: enforcement),
            validatesHostName: validatesHostName, certificatePinOnly: pinOnly)
    }

    @Test("follows the policy, row by row")
    func table() throws {
        let standard = StandardPolicy(host: try host())
        let anyHost = StandardPolicy(host: try host(), validatesHostName: false)
        let custom = CustomPolicy(host: try host()) { _ in true }
        #expect(ConnectionVerification(for: nil) == .chainAndHost)
        #expect(ConnectionVerification(for: standard) == .chainAndHost)
        #expect(ConnectionVerification(for: anyHost) == .chain)
        #expect(ConnectionVerification(for: try pinned()) == .chainAndHost)
        #expect(ConnectionVerification(for: try pinned(enforcement: .reportOnly)) == .chainAndHost)
        #expect(ConnectionVerification(for: try pinned(validatesHostName: false)) == .chain)
        #expect(ConnectionVerification(for: try pinned(pinOnly: true)) == .none)
        #expect(ConnectionVerification(for: try pinned(validatesHostName: false, pinOnly: true)) == .none)
        #expect(ConnectionVerification(for: custom) == .none)
        #expect(ConnectionVerification(for: DisabledPolicy(host: try host())) == .none)
        let all = try CompositePolicy(host: host(), allOf: [custom, anyHost, standard])
        #expect(ConnectionVerification(for: all) == .chainAndHost)
        let any = try CompositePolicy(host: host(), anyOf: [standard, pinned(pinOnly: true)])
        #expect(ConnectionVerification(for: any) == .none)
        let nested = try CompositePolicy(
            host: host(), anyOf: [standard, CompositePolicy(host: host(), allOf: [anyHost])])
        #expect(ConnectionVerification(for: nested) == .chain)
    }

    @Test("is the same for a policy that comes from a manager")
    func throughManager() throws {
        let manager = TrustManager(policies: [
            StandardPolicy(host: try host()), DisabledPolicy(host: try HostPattern("a.b")),
        ])
        #expect(ConnectionVerification(for: manager.policy(for: "www.example.com")) == .chainAndHost)
        #expect(ConnectionVerification(for: manager.policy(for: "a.b")) == .none)
    }

    @Test("is no more than BoringSSL can do with the anchors and the route")
    func possible() throws {
        let root = try TestAuthority.root()
        let issuing = try root.intermediate()
        let roots = try TrustAnchors(der: [root.root])
        let intermediates = try TrustAnchors(der: [root.root, issuing.certificate.der])
        let full = ConnectionVerification.chainAndHost
        #expect(full.possible(anchors: roots, dialsAddressElsewhere: false) == .chainAndHost)
        #expect(full.possible(anchors: roots, dialsAddressElsewhere: true) == .chain)
        #expect(full.possible(anchors: intermediates, dialsAddressElsewhere: false) == .none)
        #expect(ConnectionVerification.none.possible(anchors: roots, dialsAddressElsewhere: true) == .none)
    }

    @Test("leaves another name to a policy without host check, and an unknown issuer not")
    func withoutHostCheck() async throws {
        let setting = try HTTPSetting()
        setting.manager.add(policy: StandardPolicy(host: try host(), validatesHostName: false))
        try await withOrigin(try setting.leaf("other.example.net")) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
        }
        try await withOrigin(try TestAuthority.selfSigned(names: ["www.example.com"])) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("lets through a pinned self-signed leaf under pin-only, with one handshake, and no other")
    func pinOnly() async throws {
        let setting = try HTTPSetting()
        let leaf = try TestAuthority.selfSigned(names: ["www.example.com"])
        setting.manager.add(
            policy: try PinnedPolicy(
                host: host(), pins: PinSet(pins: [leaf.publicKeyPin()]), certificatePinOnly: true))
        try await withOrigin(leaf) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
            try await origin.expectHandshakes(1)
        }
        try await withOrigin(try TestAuthority.selfSigned(names: ["www.example.com"])) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("lets through a leaf of a pinned issuer that no anchor knows, under pin-only")
    func pinnedIssuer() async throws {
        let setting = try HTTPSetting()
        let strangers = try TestAuthority.root(name: "Stranger").intermediate()
        setting.manager.add(
            policy: try PinnedPolicy(
                host: host(), pins: PinSet(pins: [strangers.certificate.publicKeyPin()]), certificatePinOnly: true))
        try await withOrigin(try strangers.leaf(names: ["www.example.com"])) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
        }
        try await withOrigin(try strangers.leaf(names: ["api.example.com"])) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .hostNameMismatch)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("shows the application's own validation the whole chain", arguments: [true, false])
    func custom(accepts: Bool) async throws {
        let setting = try HTTPSetting()
        let lengths = Lock<[Int]>([])
        setting.manager.add(
            policy: CustomPolicy(host: try host()) { trust in
                lengths.withLock { $0.append(trust?.chain.certificates.count ?? 0) }
                return accepts
            })
        try await withOrigin(try TestAuthority.root(name: "Stranger").intermediate().leaf(names: ["api.example.com"])) {
            origin in
            try await setting.withClient { client in
                if accepts {
                    try await client.expectAnswer(origin.url())
                } else {
                    #expect(await client.refusal(origin.url())?.code == .customValidationRejected)
                    try await expectNoRequest(origin)
                }
            }
        }
        #expect(lengths.withLock { $0 } == [2])
    }

    @Test("lets everything through where validation is disabled")
    func disabled() async throws {
        let setting = try HTTPSetting()
        let log = RecordingLog()
        setting.manager.add(
            policy: DisabledPolicy(host: try host(), log: log.policyLog))
        try await withOrigin(try TestAuthority.selfSigned(names: ["api.example.com"])) { origin in
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
            try await origin.expectHandshakes(1)
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("validation is disabled for this host") == true)
    }

    @Test("does not decide for a composite: any member may accept, every member must")
    func composites() async throws {
        let setting = try HTTPSetting()
        let leaf = try TestAuthority.selfSigned(names: ["www.example.com"])
        let standard = StandardPolicy(host: try host())
        let pinned = try PinnedPolicy(
            host: host(), pins: PinSet(pins: [leaf.publicKeyPin()]), certificatePinOnly: true)
        try await withOrigin(leaf) { origin in
            setting.manager.add(policy: try CompositePolicy(host: host(), anyOf: [standard, pinned]))
            try await setting.withClient { try await $0.expectAnswer(origin.url()) }
        }
        try await withOrigin(leaf) { origin in
            setting.manager.add(policy: try CompositePolicy(host: host(), allOf: [pinned, standard]))
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("lets anchors be intermediates, which BoringSSL does not take for such")
    func intermediateAnchor() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let anchors = try TrustAnchors(der: [setting.issuing.certificate.der])
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient(validator: PathValidator(anchors: anchors)) {
                try await $0.expectAnswer(origin.url())
            }
        }
    }

    @Test("rejects through a policy whose configuration is in error")
    func rejectingPolicy() async throws {
        let setting = try HTTPSetting()
        setting.manager.add(
            policy: RejectingPolicy(
                scope: .hosts(try HostPattern("www.example.com")),
                failure: TrustFailure(.invalidConfiguration, expected: "a customer", found: "none")))
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .invalidConfiguration)
                try await expectNoRequest(origin)
            }
        }
    }
}
