import Foundation
import Holdfast
import HoldfastTesting
import Testing

@Suite("Pins alone decide")
struct PinOnlyTests {
    /// A trust without anchors: with pins alone they do not matter.
    private func trust(
        _ fixture: PolicyFixture, _ chain: [[UInt8]], host: String = PolicyFixture.host
    ) throws -> ServerTrust {
        try fixture.trust(chain, host: host, anchors: [])
    }

    @Test("A pinned leaf is enough: self-signed, expired, without the host's name")
    func pinnedLeaf() throws {
        let fixture = try PolicyFixture()
        let lone = try TestAuthority.selfSigned(names: ["device.local"], clock: fixture.clock) {
            $0.notAfter = .hours(-1)
        }
        for pin in [try fixture.keyPin(lone), Pin.certificate(lone.der)] {
            let policy = try fixture.pinned([pin], pinOnly: true)
            let decision = policy.evaluate(try trust(fixture, lone.chain), at: fixture.now)
            #expect(decision.isTrusted)
            #expect(decision.matchedPins == [pin])
            #expect(decision.path?.certificates.map(\.der) == [lone.der])
            let ordinary = try fixture.pinned([pin]).evaluate(trust(fixture, lone.chain), at: fixture.now)
            #expect(!ordinary.isTrusted)
        }
    }

    @Test("A self-signed certificate that is not pinned is refused")
    func otherSelfSigned() throws {
        let fixture = try PolicyFixture()
        let lone = try TestAuthority.selfSigned(names: [.dns(PolicyFixture.host)], clock: fixture.clock) {
            $0.subject = "Stranger"
        }
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], pinOnly: true)
        #expect(policy.evaluate(try trust(fixture, lone.chain), at: fixture.now).failure?.code == .pinMismatch)
        let appended = try trust(fixture, lone.chain + fixture.leaf.chain)
        #expect(policy.evaluate(appended, at: fixture.now).failure?.code == .pinMismatch)
    }

    @Test("A pin above the leaf counts, whatever time it is and whoever the anchors are")
    func pinnedIssuer() throws {
        let fixture = try PolicyFixture()
        let chain = fixture.leaf.chain + [fixture.root.der]
        for issuer in [fixture.issuing, fixture.root] {
            for pin in [try fixture.keyPin(issuer.certificate), Pin.certificate(issuer.der)] {
                let policy = try fixture.pinned([pin], pinOnly: true)
                let later = fixture.now.addingTimeInterval(20 * 366 * 86_400)
                for time in [fixture.now, later] {
                    let decision = policy.evaluate(try trust(fixture, chain), at: time)
                    #expect(decision.isTrusted)
                    #expect(decision.path?.anchor?.der == issuer.der)
                    #expect(decision.matchedPins == [pin])
                }
            }
        }
    }

    @Test("A pin above the leaf counts only for the dialed host")
    func issuerForHost() throws {
        let fixture = try PolicyFixture()
        let other = try fixture.issuing.leaf(names: ["stranger.example"])
        let policy = try fixture.pinned([fixture.keyPin(fixture.issuing.certificate)], pinOnly: true)
        let decision = policy.evaluate(try trust(fixture, other.chain), at: fixture.now)
        #expect(decision.failure?.code == .hostNameMismatch)
    }

    @Test("Whoever has an ordinary certificate of a pinned issuer cannot sign his own for the host")
    func ordinaryCertificateSigns() throws {
        let fixture = try PolicyFixture()
        let ordinary = TestAuthority(
            try fixture.issuing.leaf(names: ["stranger.example"], subject: "Stranger"), clock: fixture.clock)
        let forged = try ordinary.leaf(names: [.dns(PolicyFixture.host)])
        let chain = forged.chain + [fixture.root.der]
        #expect(chain.contains(fixture.issuing.der))
        for issuer in [fixture.issuing, fixture.root] {
            for pin in [try fixture.keyPin(issuer.certificate), Pin.certificate(issuer.der)] {
                let decision = try fixture.pinned([pin], pinOnly: true).evaluate(trust(fixture, chain), at: fixture.now)
                #expect(decision.failure?.code == .notACertificateAuthority)
            }
        }
    }

    @Test("Every signer up to the pin keeps the rules for issuers")
    func signers() throws {
        let fixture = try PolicyFixture()
        let pin = Pin.certificate(fixture.root.der)
        let constrained = CertificateSpecification.NameConstraints(permitted: [.dns("other.example")])
        let cases: [(TrustFailure.Code, TestAuthority)] = [
            (.keyUsageForbidsSigning, try fixture.root.intermediate { $0.keyUsage = .digitalSignature }),
            (.unsupportedVersion, try fixture.root.intermediate { $0.version = 1 }),
            (.nameConstraintViolated, try fixture.root.intermediate { $0.nameConstraints = constrained }),
            (.pathLengthExceeded, try fixture.root.intermediate(pathLength: 0).intermediate(name: "Below")),
            (.invalidSignature, try fixture.root.intermediate { $0.faults = [.flippedSignatureBit] }),
        ]
        for (code, authority) in cases {
            let leaf = try authority.leaf(names: [.dns(PolicyFixture.host)])
            let policy = try fixture.pinned([pin], pinOnly: true)
            let decision = policy.evaluate(try trust(fixture, leaf.chain + [fixture.root.der]), at: fixture.now)
            #expect(decision.failure?.code == code)
        }
        let plain = try fixture.root.intermediate(pathLength: 0).leaf(names: [.dns(PolicyFixture.host)])
        let decision = try fixture.pinned([pin], pinOnly: true).evaluate(
            trust(fixture, plain.chain + [fixture.root.der]), at: fixture.now)
        #expect(decision.isTrusted)
    }

    @Test("The pinned issuer's own path length and name constraints are respected")
    func pinnedIssuersConstraints() throws {
        let fixture = try PolicyFixture()
        let constrained = try fixture.root.intermediate(name: "Constrained") {
            $0.nameConstraints = CertificateSpecification.NameConstraints(excluded: [.dns("example.com")])
        }
        let leaf = try constrained.leaf(names: [.dns(PolicyFixture.host)])
        let policy = try fixture.pinned([.certificate(constrained.der)], pinOnly: true)
        let decision = policy.evaluate(try trust(fixture, leaf.chain), at: fixture.now)
        #expect(decision.failure?.code == .nameConstraintViolated)
        let short = try fixture.root.intermediate(name: "Short", pathLength: 0)
        let deep = try short.intermediate(name: "Deep").leaf(names: [.dns(PolicyFixture.host)])
        let shortPolicy = try fixture.pinned([.certificate(short.der)], pinOnly: true)
        #expect(
            shortPolicy.evaluate(try trust(fixture, deep.chain), at: fixture.now).failure?.code == .pathLengthExceeded)
    }

    @Test("A pinned issuer that is merely presented helps nobody")
    func appendedIssuer() throws {
        let fixture = try PolicyFixture()
        let stranger = try TestAuthority.root(name: "Test Issuing CA", clock: fixture.clock)
        let leaf = try stranger.leaf(names: [.dns(PolicyFixture.host)])
        let policy = try fixture.pinned([.certificate(fixture.issuing.der)], pinOnly: true)
        let chain = leaf.chain + [fixture.issuing.der, fixture.root.der]
        let decision = policy.evaluate(try trust(fixture, chain), at: fixture.now)
        #expect(decision.failure.map { [.pinMismatch, .invalidSignature].contains($0.code) } == true)
    }

    @Test("A known pinned root need not be sent; the pin of a bare digest must")
    func knownRoot() throws {
        let fixture = try PolicyFixture()
        let known = try PinnedPolicy(
            host: HostPattern(PolicyFixture.host), pinning: .publicKey, of: .der([fixture.root.der]),
            certificatePinOnly: true)
        #expect(known.evaluate(try trust(fixture, fixture.leaf.chain), at: fixture.now).isTrusted)
        let impostor = try TestAuthority.root(clock: fixture.clock).leaf(names: [.dns(PolicyFixture.host)])
        #expect(!known.evaluate(try trust(fixture, impostor.chain), at: fixture.now).isTrusted)
        let digest = try fixture.pinned([fixture.keyPin(fixture.root.certificate)], pinOnly: true)
        let decision = digest.evaluate(try trust(fixture, fixture.leaf.chain), at: fixture.now)
        #expect(decision.failure?.code == .pinMismatch)
    }

    @Test("Without host checking a pinned leaf passes and a pinned issuer is a configuration error")
    func withoutHost() throws {
        let fixture = try PolicyFixture()
        let chain = fixture.leaf.chain
        let own = try fixture.pinned([fixture.keyPin(fixture.leaf)], validatesHostName: false, pinOnly: true)
        #expect(own.evaluate(try trust(fixture, chain), at: fixture.now).isTrusted)
        let issuer = try fixture.pinned(
            [fixture.keyPin(fixture.issuing.certificate)], validatesHostName: false, pinOnly: true)
        let decision = issuer.evaluate(try trust(fixture, chain), at: fixture.now)
        #expect(decision.failure?.code == .invalidConfiguration)
        let known = try PinnedPolicy(
            host: HostPattern(PolicyFixture.host), pinning: .certificate, of: .der([fixture.leaf.der]),
            validatesHostName: false, certificatePinOnly: true)
        let stranger = try TestAuthority.selfSigned(names: ["stranger.example"], clock: fixture.clock)
        let refused = known.evaluate(try trust(fixture, stranger.chain), at: fixture.now)
        #expect(refused.failure?.code == .pinMismatch)
    }

    @Test("A self-signed server certificate that its maker marked as a CA passes without host checking")
    func selfSignedAuthority() throws {
        let fixture = try PolicyFixture()
        let lone = try TestAuthority.root(name: "device", clock: fixture.clock) { $0.keyUsage = nil }
        let policy = try PinnedPolicy(
            host: HostPattern(PolicyFixture.host), pinning: .certificate, of: .der([lone.der]),
            validatesHostName: false, certificatePinOnly: true)
        #expect(policy.evaluate(try trust(fixture, [lone.der]), at: fixture.now).isTrusted)
        let below = try lone.leaf(names: [.dns(PolicyFixture.host)])
        let decision = policy.evaluate(try trust(fixture, below.chain + [lone.der]), at: fixture.now)
        #expect(decision.failure?.code == .invalidConfiguration)
    }

    /// With the lists of the root and of the issuing authority; the former revokes nothing.
    private func trust(
        _ fixture: PolicyFixture, _ chain: [[UInt8]], listing serial: [UInt8]?, isRequired: Bool = false
    ) throws -> ServerTrust {
        let lists = try [
            fixture.issuing.revocationList { $0.serialNumbers = serial.map { [$0] } ?? [] },
            fixture.root.revocationList(),
        ]
        let revocation = Revocation.crls(
            try lists.map { try CertificateRevocationList(der: $0) }, isRequired: isRequired)
        return ServerTrust(
            chain: PresentedChain(chain), purpose: .server(identity: try DialedHost(PolicyFixture.host)),
            validator: PathValidator(anchors: try TrustAnchors(der: []), revocation: revocation))
    }

    @Test("Revocation lists that are given are asked, for a pinned leaf as for a pinned issuer")
    func revoked() throws {
        let fixture = try PolicyFixture()
        let serial = Array(try X509Certificate(der: fixture.leaf.der).serialNumber)
        let chain = fixture.leaf.chain + [fixture.root.der]
        for pin in [
            try fixture.keyPin(fixture.leaf), .certificate(fixture.issuing.der), .certificate(fixture.root.der),
        ] {
            let policy = try fixture.pinned([pin], pinOnly: true)
            func code(_ trust: ServerTrust) -> TrustFailure.Code? {
                policy.evaluate(trust, at: fixture.now).failure?.code
            }
            #expect(try code(trust(fixture, chain, listing: nil, isRequired: true)) == nil)
            #expect(try code(trust(fixture, chain, listing: [1])) == nil)
            #expect(try code(trust(fixture, chain, listing: serial)) == .revoked)
        }
    }

    @Test("A peer cannot hide that its pinned leaf was revoked; a leaf that nobody issued needs no list")
    func hiddenIssuer() throws {
        let fixture = try PolicyFixture()
        let serial = Array(try X509Certificate(der: fixture.leaf.der).serialNumber)
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], pinOnly: true)
        let alone = policy.evaluate(try trust(fixture, [fixture.leaf.der], listing: serial), at: fixture.now)
        #expect(alone.failure?.code == .revocationUnknown)
        let twin = try TestAuthority.root(name: "Test Issuing CA", clock: fixture.clock)
        let decoy = policy.evaluate(
            try trust(fixture, [fixture.leaf.der, twin.der], listing: serial), at: fixture.now)
        #expect(decoy.failure?.code == .revocationUnknown)
        let lone = try TestAuthority.selfSigned(names: ["device.local"], clock: fixture.clock)
        func verdict(of pin: Pin, isRequired: Bool) throws -> TrustFailure.Code? {
            let trust = try trust(fixture, lone.chain, listing: serial, isRequired: isRequired)
            return try fixture.pinned([pin], pinOnly: true).evaluate(trust, at: fixture.now).failure?.code
        }
        #expect(try verdict(of: .certificate(lone.der), isRequired: true) == nil)
        #expect(try verdict(of: fixture.keyPin(lone), isRequired: false) == nil)
        // Of a pinned key this may be the thief's own certificate.
        #expect(try verdict(of: fixture.keyPin(lone), isRequired: true) == .revocationUnknown)
        // Of whom no list speaks.
        let stranger = try TestAuthority.root(name: "Stranger", clock: fixture.clock).leaf(names: ["device.local"])
        let other = try fixture.pinned([fixture.keyPin(stranger)], pinOnly: true)
        func evaluated(isRequired: Bool) throws -> TrustFailure.Code? {
            let trust = try trust(fixture, [stranger.der], listing: serial, isRequired: isRequired)
            return other.evaluate(trust, at: fixture.now).failure?.code
        }
        #expect(try evaluated(isRequired: false) == nil)
        #expect(try evaluated(isRequired: true) == .revocationUnknown)
    }

    @Test("An expired set rejects here too")
    func expired() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], pinOnly: true, expires: fixture.now)
        let decision = policy.evaluate(try trust(fixture, fixture.leaf.chain), at: fixture.now)
        #expect(decision.failure?.code == .pinsExpired)
    }

    @Test("Nothing presented, an unreadable leaf and too much of everything are rejections")
    func budget() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned([.certificate([1, 2, 3])], pinOnly: true)
        func code(_ chain: [[UInt8]]) throws -> TrustFailure.Code? {
            policy.evaluate(try trust(fixture, chain), at: fixture.now).failure?.code
        }
        #expect(try code([]) == .emptyChain)
        #expect(try code([[1, 2, 3]]) == .unreadableCertificate)
        #expect(try code([[UInt8]](repeating: fixture.leaf.der, count: 200)) == .chainTooLarge)
        #expect(try code([fixture.leaf.der, [UInt8](repeating: 0x30, count: 2 << 20)]) == .chainTooLarge)
        #expect(try code([fixture.leaf.der, [0x30, 0x80]]) == .pinMismatch)
    }
}
