import Foundation
import Holdfast
import HoldfastTesting
import Testing

@Suite("Pinned policies")
struct PinnedPolicyTests {
    @Test("A pin of any certificate of the validated path is enough, key or certificate")
    func everyPosition() throws {
        let fixture = try PolicyFixture()
        for certificate in [fixture.leaf, fixture.issuing.certificate, fixture.root.certificate] {
            for pin in [try fixture.keyPin(certificate), Pin.certificate(certificate.der)] {
                let decision = try fixture.pinned([pin]).evaluate(fixture.trust(), at: fixture.now)
                #expect(decision.isTrusted)
                #expect(decision.matchedPins == [pin])
                #expect(decision.path?.certificates.count == 3)
            }
        }
    }

    @Test("Pins of every kind of key match")
    func kindsOfKeys() throws {
        let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
        let root = try TestAuthority.root(clock: clock)
        let keys: [TestKey.Choice] = [
            .p256, .p384, .p521, .ed25519, .sharedRSA(bits: 2048, index: 0), .sharedRSA(bits: 3072, index: 0),
        ]
        for key in keys {
            let leaf = try root.leaf(names: ["a.example"], key: key)
            let pin = try Pin.publicKey(spkiDER: leaf.key.subjectPublicKeyInfoDER)
            let policy = try PinnedPolicy(host: HostPattern("a.example"), pins: PinSet(pins: [pin]))
            let trust = ServerTrust(
                certificates: leaf.chain, host: try DialedHost("a.example"),
                anchors: try TrustAnchors(der: [root.root]))
            #expect(policy.evaluate(trust, at: clock.now).isTrusted, "\(key)")
        }
    }

    @Test("A root that the server does not send matches; an intermediate that is missing does not")
    func notSent() throws {
        let fixture = try PolicyFixture()
        #expect(!fixture.leaf.chain.contains(fixture.root.der))
        let rootPin = try fixture.keyPin(fixture.root.certificate)
        #expect(try fixture.pinned([rootPin]).evaluate(fixture.trust(), at: fixture.now).isTrusted)
        let issuingPin = try fixture.keyPin(fixture.issuing.certificate)
        let decision = try fixture.pinned([issuingPin]).evaluate(
            fixture.trust([fixture.leaf.der]), at: fixture.now)
        #expect(decision.failure?.code == .unknownIssuer)
        #expect(decision.failure?.pins == [issuingPin])
    }

    @Test("Certificates that a stranger appends to his valid chain satisfy no pin")
    func appended() throws {
        let fixture = try PolicyFixture()
        let stranger = try TestAuthority.root(name: "Stranger", clock: fixture.clock)
        let strangers = try stranger.leaf(names: [.dns(PolicyFixture.host)])
        let genuine = [fixture.leaf, fixture.issuing.certificate, fixture.root.certificate]
        for certificate in genuine {
            for pin in [try fixture.keyPin(certificate), Pin.certificate(certificate.der)] {
                let trust = try fixture.trust(
                    strangers.chain + genuine.map(\.der), anchors: [fixture.root.root, stranger.root])
                let decision = try fixture.pinned([pin]).evaluate(trust, at: fixture.now)
                #expect(decision.failure?.code == .pinMismatch)
                #expect(decision.failure?.paths.count == 1)
                #expect(decision.matchedPins.isEmpty)
            }
        }
    }

    @Test("A certificate of the same authority with another key is refused")
    func machineInTheMiddle() throws {
        let fixture = try PolicyFixture()
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        let policy = try fixture.pinned([try fixture.keyPin(fixture.leaf)])
        let decision = policy.evaluate(try fixture.trust(impostor.chain), at: fixture.now)
        let failure = try #require(decision.failure)
        #expect(failure.code == .pinMismatch)
        let text = failure.description
        for shown in [try fixture.keyPin(impostor), try fixture.keyPin(fixture.root.certificate)] + policy.fixedPins {
            #expect(text.contains(shown.description), "\(shown) is missing in \(text)")
        }
        #expect(text.contains(PolicyFixture.host))
    }

    @Test("A renewed certificate with the same key passes a key pin and fails a certificate pin")
    func renewal() throws {
        let fixture = try PolicyFixture()
        let renewed = try fixture.issuing.renew(fixture.leaf)
        let trust = try fixture.trust(renewed.chain)
        #expect(try fixture.pinned([fixture.keyPin(fixture.leaf)]).evaluate(trust, at: fixture.now).isTrusted)
        let byCertificate = try fixture.pinned([.certificate(fixture.leaf.der)]).evaluate(trust, at: fixture.now)
        #expect(byCertificate.failure?.code == .pinMismatch)
    }

    @Test("Where two paths are valid, the one that holds the pin is found, whichever it is")
    func crossSigned() throws {
        let fixture = try PolicyFixture()
        let other = try TestAuthority.root(name: "Other Root", clock: fixture.clock)
        let crossed = try other.crossSign(fixture.root)
        let chain = fixture.leaf.chain + [crossed.der]
        let anchors = [fixture.root.root, other.root]
        for root in [fixture.root, other] {
            let policy = try fixture.pinned([.certificate(root.der)])
            let decision = policy.evaluate(try fixture.trust(chain, anchors: anchors), at: fixture.now)
            #expect(decision.isTrusted)
            #expect(decision.path?.anchor?.der == root.der)
        }
        let neither = try fixture.pinned([.certificate([1, 2, 3])])
        let decision = neither.evaluate(try fixture.trust(chain, anchors: anchors), at: fixture.now)
        #expect(decision.failure?.code == .pinMismatch)
        #expect(decision.failure?.paths.count == 2)
    }

    @Test("A pin does not help an expired chain, an unknown root or a wrong name")
    func standardFirst() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], host: "**.example.com")
        let later = fixture.now.addingTimeInterval(91 * 86_400)
        #expect(policy.evaluate(try fixture.trust(), at: later).failure?.code == .expired)
        let unknown = try fixture.untrusted()
        #expect(policy.evaluate(unknown, at: fixture.now).failure?.code == .unknownIssuer)
        let wrong = try fixture.trust(host: "api.example.com")
        #expect(policy.evaluate(wrong, at: fixture.now).failure?.code == .hostNameMismatch)
    }

    // MARK: Expiry and report-only

    @Test("An expired set rejects from the instant of its expiry on")
    func expiredRejects() throws {
        let fixture = try PolicyFixture()
        let expires = fixture.now.addingTimeInterval(60)
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], expires: expires)
        #expect(policy.evaluate(try fixture.trust(), at: expires.addingTimeInterval(-1)).isTrusted)
        #expect(policy.evaluate(try fixture.trust(), at: expires).failure?.code == .pinsExpired)
    }

    @Test("An expired set that falls back leaves standard validation, and says so in a notice")
    func expiredFallsBack() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned(
            [.certificate([1])], expires: fixture.now, afterExpiry: .standardValidation)
        let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted)
        #expect(decision.notices.map(\.code) == [.pinsExpired])
        let before = policy.evaluate(try fixture.trust(), at: fixture.now.addingTimeInterval(-1))
        #expect(before.failure?.code == .pinMismatch)
        let unknown = try fixture.untrusted()
        #expect(policy.evaluate(unknown, at: fixture.now).failure?.code == .unknownIssuer)
    }

    @Test("Report-only lets a mismatch through with a notice, and nothing else")
    func reportOnly() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned([.certificate([1])], host: "**.example.com", enforcement: .reportOnly)
        let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted)
        #expect(decision.notices.map(\.code) == [.pinMismatch])
        #expect(decision.notices.first?.paths.count == 1)
        #expect(decision.matchedPins.isEmpty)
        #expect(decision.path?.certificates.count == 3)
        let wrong = policy.evaluate(try fixture.trust(host: "api.example.com"), at: fixture.now)
        #expect(wrong.failure?.code == .hostNameMismatch)
        let expired = policy.evaluate(try fixture.trust(), at: fixture.now.addingTimeInterval(91 * 86_400))
        #expect(expired.failure?.code == .expired)
        let unknown = try fixture.untrusted()
        #expect(policy.evaluate(unknown, at: fixture.now).failure?.code == .unknownIssuer)
    }

    @Test("Report-only finds the pin where it is, without a notice")
    func reportOnlyMatch() throws {
        let fixture = try PolicyFixture()
        let policy = try fixture.pinned([fixture.keyPin(fixture.leaf)], enforcement: .reportOnly)
        let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted && decision.notices.isEmpty)
        #expect(decision.matchedPins.count == 1)
    }

    // MARK: Without the host

    @Test("Without host checking a pin counts for the server's own certificate, never for its issuer")
    func withoutHost() throws {
        let fixture = try PolicyFixture()
        let stranger = try fixture.issuing.leaf(names: ["stranger.example"])
        let own = try fixture.pinned([fixture.keyPin(stranger)], validatesHostName: false)
        #expect(own.evaluate(try fixture.trust(stranger.chain), at: fixture.now).isTrusted)
        for issuer in [fixture.issuing, fixture.root] {
            let policy = try fixture.pinned([fixture.keyPin(issuer.certificate)], validatesHostName: false)
            let decision = policy.evaluate(try fixture.trust(stranger.chain), at: fixture.now)
            #expect(decision.failure?.code == .invalidConfiguration)
        }
        let other = try fixture.pinned([.certificate([1])], validatesHostName: false)
        #expect(other.evaluate(try fixture.trust(), at: fixture.now).failure?.code == .pinMismatch)
    }

    @Test("Settings that would leave nothing to be proved are refused when the policy is made")
    func refused() throws {
        let fixture = try PolicyFixture()
        let pin = try fixture.keyPin(fixture.leaf)
        #expect(code { try fixture.pinned([pin], pinOnly: true, enforcement: .reportOnly) } == .reportOnlyWithPinsOnly)
        #expect(
            code { try fixture.pinned([pin], validatesHostName: false, enforcement: .reportOnly) }
                == .reportOnlyWithoutHostCheck)
        #expect(
            code {
                try fixture.pinned(
                    [pin], validatesHostName: false, expires: fixture.now, afterExpiry: .standardValidation)
            } == .standardValidationWithoutHostCheck)
        let host = try HostPattern(PolicyFixture.host)
        for pinOnly in [true, false] {
            for authority in [fixture.issuing, fixture.root] {
                #expect(
                    code {
                        try PinnedPolicy(
                            host: host, pinning: .publicKey, of: .der([authority.der]), validatesHostName: false,
                            certificatePinOnly: pinOnly)
                    } == .issuerPinWithoutHostCheck)
            }
        }
        #expect(code { try PinnedPolicy(host: host, pinning: .publicKey, of: .der([])) } == .noPins)
        #expect(code { try PinnedPolicy(host: host, pinning: .publicKey, of: .der([[1]])) } == .unreadableCertificates)
    }

    @Test("Beside the server's own certificate a pinned issuer does not count where the host is not checked")
    func mixedWithoutHost() throws {
        let fixture = try PolicyFixture()
        let stranger = try fixture.issuing.leaf(names: ["stranger.example"])
        for pinOnly in [true, false] {
            let log = RecordingLog()
            let policy = try PolicyLog.$shared.withValue(log.policyLog) {
                try PinnedPolicy(
                    host: HostPattern(PolicyFixture.host), pinning: .certificate,
                    of: .der([fixture.leaf.der, fixture.issuing.der]), validatesHostName: false,
                    certificatePinOnly: pinOnly)
            }
            #expect(log.lines.count == 1)
            #expect(log.lines.first?.hasPrefix("warning pinned issuers do not count") == true)
            #expect(policy.evaluate(try fixture.trust(), at: fixture.now).isTrusted)
            let decision = policy.evaluate(try fixture.trust(stranger.chain), at: fixture.now)
            #expect(decision.failure?.code == .invalidConfiguration)
        }
    }

    // MARK: Scope

    @Test("A trust for a host that the policy does not cover is rejected")
    func notCovered() throws {
        let fixture = try PolicyFixture()
        let leaf = try fixture.issuing.leaf(names: ["other.example", .dns(PolicyFixture.host)])
        let policy = try fixture.pinned([fixture.keyPin(leaf)])
        let trust = try fixture.trust(leaf.chain, host: "other.example")
        #expect(policy.evaluate(trust, at: fixture.now).failure?.code == .hostNotCovered)
    }

    @Test("A bare trust is for the host of an exact policy; a pattern rejects it and says what to call")
    func bareTrust() throws {
        let fixture = try PolicyFixture()
        let pin = try fixture.keyPin(fixture.leaf)
        let exact = try fixture.pinned([pin]).evaluate(fixture.trust(host: nil), at: fixture.now)
        #expect(exact.isTrusted)
        #expect(exact.host?.name == PolicyFixture.host)
        let other = try fixture.pinned([pin], host: "other.example")
        #expect(other.evaluate(try fixture.trust(host: nil), at: fixture.now).failure?.code == .hostNameMismatch)
        for pattern in ["*.example.com", "**.example.com"] {
            let decision = try fixture.pinned([pin], host: pattern).evaluate(
                fixture.trust(host: nil), at: fixture.now)
            #expect(decision.failure?.code == .hostUnknown)
            #expect(decision.failure?.remedy.contains("evaluate(ServerTrust(") == true)
        }
    }

    @Test("Clients are judged without a host: by the pin of their issuer, and for client authentication")
    func clients() throws {
        let fixture = try PolicyFixture()
        let device = try fixture.issuing.leaf(names: ["device"], purposes: [.clientAuthentication])
        func trust(_ certificate: TestCertificate, _ purpose: ValidationPurpose = .client) throws -> ServerTrust {
            ServerTrust(
                chain: PresentedChain(certificate.chain), purpose: purpose,
                validator: PathValidator(anchors: try TrustAnchors(der: [fixture.root.root])))
        }
        for pinOnly in [true, false] {
            let policy = try PinnedPolicy(
                clients: "devices", pins: PinSet(pins: [fixture.keyPin(fixture.issuing.certificate)]),
                certificatePinOnly: pinOnly)
            #expect(policy.evaluate(try trust(device), at: fixture.now).isTrusted)
            let server = policy.evaluate(try trust(fixture.leaf), at: fixture.now)
            #expect(server.failure?.code == .wrongExtendedKeyUsage)
            let asServer = try trust(device, .server(identity: try DialedHost("devices")))
            #expect(policy.evaluate(asServer, at: fixture.now).failure?.code == .hostNotCovered)
        }
    }

    @Test("Pins of keys and of certificates count side by side")
    func bothSubjects() throws {
        let fixture = try PolicyFixture()
        let (key, certificate) = (try fixture.keyPin(fixture.leaf), Pin.certificate(fixture.leaf.der))
        let both = try fixture.pinned([key, certificate])
        #expect(both.evaluate(try fixture.trust(), at: fixture.now).matchedPins == [key, certificate])
    }

    @Test("A search over its budget is a rejection, whatever pins there are")
    func overBudget() throws {
        let fixture = try PolicyFixture()
        var limits = ValidationLimits()
        limits.signatures = 1
        let trust = ServerTrust(
            chain: PresentedChain(fixture.leaf.chain), purpose: .server(identity: try DialedHost(PolicyFixture.host)),
            validator: PathValidator(anchors: try TrustAnchors(der: [fixture.root.root]), limits: limits))
        let decision = try fixture.pinned([fixture.keyPin(fixture.leaf)]).evaluate(trust, at: fixture.now)
        #expect(decision.failure?.code == .budgetExceeded)
    }
}

/// The reason for which a policy cannot be made.
func code<Policy>(_ body: () throws -> Policy) -> PolicyConfigurationError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? PolicyConfigurationError)?.code
    }
}
