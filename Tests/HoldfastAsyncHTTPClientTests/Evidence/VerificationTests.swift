import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastAsyncHTTPClient

@Suite("The policy, which alone decides,", .timeLimit(.minutes(15)))
struct VerificationTests {
    private func host() throws -> HostPattern { try HostPattern("www.example.com") }

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

    @Test("lets anchors be intermediates")
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
