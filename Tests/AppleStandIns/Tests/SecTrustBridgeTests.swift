import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Security
import Testing

@Suite("A SecTrust as a ServerTrust")
struct SecTrustBridgeTests {
    @Test("The system's path is what pins are matched against, the anchor included")
    func pinsMatchTheEvaluatedChain() throws {
        let fixture = try AppleFixture()
        for certificate in [fixture.leaf, fixture.issuing.certificate, fixture.root.certificate] {
            try fixture.pin([fixture.keyPin(certificate)])
            let decision = fixture.manager.evaluate(
                ServerTrust(fixture.secTrust(), host: try fixture.dialed()))
            #expect(decision.isTrusted, "\(decision.failure?.description ?? "")")
            #expect(decision.path?.certificates.count == 3)
            #expect(decision.path?.anchor.map { Array($0.der) } == fixture.root.root)
        }
    }

    @Test("A pin that only a presented certificate holds, outside of the system's path, does not count")
    func appendedCertificate() throws {
        let fixture = try AppleFixture()
        let stranger = try TestAuthority.root()
        try fixture.pin([fixture.keyPin(stranger.certificate)])
        let trust = ServerTrust(
            fixture.secTrust(fixture.leaf.chain + [stranger.root]), host: try fixture.dialed())
        let decision = fixture.manager.evaluate(trust)
        #expect(decision.failure?.code == .pinMismatch)
        #expect(decision.failure?.paths.count == 1)
    }

    @Test("What the system rejects is rejected, with the system's words and its error")
    func rejectedBySystem() throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let trust = ServerTrust(fixture.secTrust(systemAnchors: []), host: try fixture.dialed())
        let failure = try #require(fixture.manager.evaluate(trust).failure)
        #expect(failure.code == .rejectedBySystem)
        #expect(failure.found.contains("-67843"))
        #expect(failure.underlying is CFError)
        #expect(failure.host == trust.host)
    }

    @Test("The host that was dialed counts, not the one that the connection's policy names")
    func hostIsTheDialedOne() throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern("other.example")))
        let trust = ServerTrust(fixture.secTrust(), host: try fixture.dialed("other.example"))
        #expect(fixture.manager.evaluate(trust).failure?.code == .rejectedBySystem)
    }

    @Test("Anchors of the caller's replace the system's")
    func callersAnchors() throws {
        let fixture = try AppleFixture()
        let other = try TestAuthority.root()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        func verdict(_ trust: SecTrust, _ anchors: [[UInt8]]?) throws -> Bool {
            let anchors = try anchors.map { try TrustAnchors(der: $0) }
            return fixture.manager.evaluate(ServerTrust(trust, host: try fixture.dialed(), anchors: anchors)).isTrusted
        }
        #expect(try verdict(fixture.secTrust(systemAnchors: []), [fixture.root.root]))
        #expect(try !verdict(fixture.secTrust(), [other.root]))
        #expect(try verdict(fixture.secTrust(), nil))
    }

    @Test("Anchors that were set on the SecTrust stay")
    func anchorsOfTheTrust() throws {
        let fixture = try AppleFixture()
        let trust = fixture.secTrust(systemAnchors: [])
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(fixture.root.root) as CFData))
        #expect(SecTrustSetAnchorCertificates(trust, [certificate] as CFArray) == errSecSuccess)
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        #expect(fixture.manager.evaluate(ServerTrust(trust, host: try fixture.dialed())).isTrusted)
    }

    @Test("The time of the decision is the date of the evaluation")
    func time() throws {
        let fixture = try AppleFixture()
        let policy = StandardPolicy(host: try HostPattern(fixture.host))
        let trust = ServerTrust(fixture.secTrust(), host: try fixture.dialed())
        let end = try #require(fixture.leaf.notAfter)
        #expect(policy.evaluate(trust, at: end.addingTimeInterval(-1)).isTrusted)
        #expect(policy.evaluate(trust, at: end.addingTimeInterval(1)).failure?.code == .rejectedBySystem)
    }

    @Test("A decision leaves the trust's own policies as they were")
    func policiesAreRestored() throws {
        let fixture = try AppleFixture()
        let secTrust = fixture.secTrust(host: "as.it.was.example")
        let policy = StandardPolicy(host: try HostPattern(fixture.host), validatesHostName: false)
        #expect(policy.evaluate(ServerTrust(secTrust, host: try fixture.dialed()), at: .now).isTrusted)
        #expect(secTrust.policyHosts == ["as.it.was.example"])
    }

    @Test("The system is asked to check revocation where that is wanted, and not otherwise")
    func revocation() throws {
        let fixture = try AppleFixture()
        let policy = StandardPolicy(host: try HostPattern(fixture.host))
        for (revocation, flags) in [(SystemRevocation.system, UInt?.none), (.checked, 3), (.required, 11)] {
            let secTrust = fixture.secTrust(host: "as.it.was.example")
            let trust = ServerTrust(secTrust, host: try fixture.dialed(), revocation: revocation)
            #expect(policy.evaluate(trust, at: .now).isTrusted == (revocation != .required))
            #expect(secTrust.evaluations.map(\.revocationFlags) == [flags])
            #expect(secTrust.evaluations.map(\.host) == [fixture.host])
            #expect(secTrust.policyHosts == ["as.it.was.example"])
        }
    }

    @Test("Where the network is forbidden the system fetches nothing, and the application's own setting is there again")
    func withoutNetwork() throws {
        let fixture = try AppleFixture()
        let policy = StandardPolicy(host: try HostPattern(fixture.host))
        for isAllowed in [true, false] {
            let secTrust = fixture.secTrust()
            #expect(SecTrustSetNetworkFetchAllowed(secTrust, isAllowed) == errSecSuccess)
            for revocation in [SystemRevocation.withoutNetwork, .system] {
                let trust = ServerTrust(secTrust, host: try fixture.dialed(), revocation: revocation)
                #expect(policy.evaluate(trust, at: .now).isTrusted)
            }
            #expect(secTrust.evaluations.map(\.allowsNetworkFetch) == [false, isAllowed])
            var allowsFetch = DarwinBoolean(!isAllowed)
            #expect(unsafe SecTrustGetNetworkFetchAllowed(secTrust, &allowsFetch) == errSecSuccess)
            #expect(allowsFetch.boolValue == isAllowed)
            #expect(secTrust.evaluations.allSatisfy { $0.revocationFlags == nil })
        }
    }

    @Test("A system validator judges chains in DER too, and clients for client authentication")
    func derChains() throws {
        let fixture = try AppleFixture()
        let validator = SystemChainValidator(anchors: try TrustAnchors(der: [fixture.root.root]))
        let chain = PresentedChain(fixture.leaf.chain)
        func failure(_ chain: PresentedChain, _ purpose: ValidationPurpose) -> TrustFailure.Code? {
            validator.validate(chain, for: purpose, at: .now) { _ in true }.failure?.code
        }
        #expect(try failure(chain, .server(identity: fixture.dialed())) == nil)
        #expect(try failure(chain, .server(identity: fixture.dialed("x.example"))) == .rejectedBySystem)
        #expect(failure(PresentedChain([]), .client) == .emptyChain)
        #expect(failure(PresentedChain([[1, 2, 3]]), .client) == .unreadableCertificate)
    }

    @Test("The published calls take a SecTrust, nil included, in both generations' spellings")
    func publishedCalls() throws {
        let fixture = try AppleFixture()
        let trust = fixture.secTrust()
        let standard = fixture.manager.create(type: .standard, hostName: fixture.host)
        let pattern = fixture.manager.create(type: .standard, hostName: "*.apple.example")
        let disabled = fixture.manager.create(type: .disabled, hostName: fixture.host)
        #expect(standard.validate(trust: trust))
        #expect(!standard.validate(trust: nil))
        #expect(disabled.validate(trust: nil))
        #expect(!pattern.validate(trust: trust), "a bare trust has no host, and a pattern cannot know it")
        let known = ServerTrust(trust, host: try fixture.dialed())
        #expect(standard.evaluate(known, at: fixture.manager.clock.now).isTrusted)
    }

    /// Trusts every server after a date.
    private struct Dated: TrustPolicy {
        let scope = PolicyScope(hostName: "a.example")
        let date: Date
        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            let verdict: TrustDecision.Verdict =
                time > date ? .trusted : .rejected(TrustFailure(.noUsablePins, expected: "later", found: "now"))
            return TrustDecision(verdict, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
        func decisionWithoutTrust(at time: Date) -> TrustDecision {
            evaluate(ServerTrust(certificates: [], host: nil, anchors: TrustAnchors([])), at: time)
        }
    }

    @Test("The published call decides for the time of the clock that it is given, also where there is no trust")
    func publishedClock() throws {
        let fixture = try AppleFixture()
        let (now, trust) = (SystemWallClock().now, fixture.secTrust())
        let policy = Dated(date: now.addingTimeInterval(3_600))
        for (seconds, isTrusted) in [(0, false), (7_200, true)] as [(Double, Bool)] {
            let clock = ManualClock(now: now.addingTimeInterval(seconds))
            #expect(policy.validate(trust: nil, clock: clock) == isTrusted)
            #expect(policy.validate(trust: trust, clock: clock) == isTrusted)
        }
        #expect(!policy.validate(trust: nil) && !policy.validate(trust: trust))
    }

    @Test("The middle generation's spelling of the published call answers as the others do")
    @available(*, deprecated, message: "as published")
    func withTrust() throws {
        let fixture = try AppleFixture()
        let policy = fixture.manager.create(type: .standard, hostName: fixture.host)
        #expect(policy.validate(withTrust: fixture.secTrust()) && policy.validate(with: fixture.secTrust()))
        #expect(!policy.validate(withTrust: nil) && !policy.validate(with: nil))
        let untrusted = fixture.secTrust(systemAnchors: [])
        #expect(!policy.validate(withTrust: untrusted) && !policy.validate(with: untrusted))
    }

    @Test("A custom closure gets the very SecTrust of the connection, and nil where there is none")
    func customClosure() throws {
        let fixture = try AppleFixture()
        let trust = fixture.secTrust()
        let seen = Collected<ObjectIdentifier?>()
        let settings = ValidationSettings()
        settings.customValidation = { secTrust in
            seen.add(secTrust.map(ObjectIdentifier.init))
            return secTrust != nil
        }
        let policy = fixture.manager.create(type: .custom, hostName: fixture.host, settings: settings)
        #expect(policy.validate(trust: trust))
        #expect(!policy.validate(trust: nil))
        #expect(seen.all == [ObjectIdentifier(trust), nil])
        let unreadable = ServerTrust(certificates: [[1]], host: try fixture.dialed(), anchors: TrustAnchors([]))
        #expect(!policy.evaluate(unreadable, at: .now).isTrusted)
        #expect(seen.all.count == 2, "what the system cannot read is no absence of a trust")
    }

    @Test("Several decisions about one trust at the same time do not disturb each other")
    func concurrentDecisions() async throws {
        let fixture = try AppleFixture()
        let trust = ServerTrust(fixture.secTrust(), host: try fixture.dialed())
        let checking = StandardPolicy(host: try HostPattern(fixture.host))
        let other = StandardPolicy(host: try HostPattern(fixture.host), validatesHostName: false)
        let late = try #require(fixture.leaf.notAfter).addingTimeInterval(60)
        await withTaskGroup(of: Bool.self) { group in
            for round in 0..<60 {
                group.addTask {
                    switch round % 3 {
                    case 0: checking.evaluate(trust, at: .now).isTrusted
                    case 1: other.evaluate(trust, at: .now).isTrusted
                    default: !checking.evaluate(trust, at: late).isTrusted
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
