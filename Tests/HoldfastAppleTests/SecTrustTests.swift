import Foundation
import Holdfast
import HoldfastTesting
import Security
import Testing

/// Decisions about trusts that Security.framework evaluates.
@Suite("Decisions about a SecTrust", .timeLimit(.minutes(15)))
struct SecTrustTests {
    private func decision(
        _ site: AppleSite, _ trust: SecTrust, anchors: TrustAnchors?, revocation: SystemRevocation = .system,
        at time: Date? = nil
    ) throws -> TrustDecision {
        let trust = ServerTrust(trust, host: try site.host, anchors: anchors, revocation: revocation)
        return site.manager.evaluate(trust, at: time)
    }

    @Test(
        "The system's path holds the pin, whichever certificate of it is pinned",
        arguments: [.p256, .p384, .sharedRSA(bits: 2048, index: 0)] as [TestKey.Choice])
    func paths(key: TestKey.Choice) throws {
        let site = try AppleSite(key: key)
        for certificate in [site.leaf, site.issuing.certificate, site.root.certificate] {
            try site.pin(certificate)
            let decision = try decision(site, site.secTrust(), anchors: site.anchors)
            #expect(decision.isTrusted, "\(decision.failure?.description ?? "")")
            #expect(decision.path?.certificates.map { Array($0.der) } == site.leaf.chain + [site.root.root])
        }
    }

    @Test("Another key of the same authority is a pin mismatch")
    func mismatch() throws {
        let site = try AppleSite()
        try site.pin()
        let decision = try decision(site, site.secTrust(site.impostor().chain), anchors: site.anchors)
        #expect(decision.failure?.code == .pinMismatch)
        #expect(decision.failure?.paths.count == 1)
    }

    @Test("What the system does not trust is refused with its words, its number and its error")
    func unknownAuthority() throws {
        let site = try AppleSite()
        try site.pin()
        let failure = try #require(try decision(site, site.secTrust(), anchors: nil).failure)
        #expect(failure.code == .rejectedBySystem)
        #expect(failure.found.contains("(status -"), "\(failure.found)")
        #expect(failure.underlying != nil)
        let others = try TrustAnchors(der: [TestAuthority.root().root])
        #expect(try decision(site, site.secTrust(), anchors: others).failure?.code == .rejectedBySystem)
    }

    @Test("A pin in a certificate that the server only appended does not count")
    func appended() throws {
        let site = try AppleSite()
        let stranger = try TestAuthority.root()
        try site.pin(stranger.certificate)
        let trust = try site.secTrust(site.leaf.chain + [stranger.root])
        #expect(try decision(site, trust, anchors: site.anchors).failure?.code == .pinMismatch)
    }

    @Test("The host that was dialed counts, also an IP address, and not the one that the trust names")
    func hosts() throws {
        let site = try AppleSite()
        for name in [AppleSite.address, "localhost", "other.example"] {
            let host = try DialedHost(name)
            site.manager.add(policy: StandardPolicy(host: HostPattern(host)))
            let trust = ServerTrust(try site.secTrust(host: "other.example"), host: host, anchors: try site.anchors)
            #expect(site.manager.evaluate(trust).isTrusted == (name != "other.example"), "\(name)")
        }
        let lenient = StandardPolicy(host: try HostPattern("other.example"), validatesHostName: false)
        let trust = ServerTrust(
            try site.secTrust(), host: try DialedHost("other.example"), anchors: try site.anchors)
        #expect(lenient.evaluate(trust, at: .now).isTrusted)
    }

    @Test("The time of the decision is the date of the evaluation")
    func time() throws {
        let site = try AppleSite()
        try site.pin()
        let end = try #require(site.leaf.notAfter)
        let trust = try site.secTrust()
        #expect(try decision(site, trust, anchors: site.anchors, at: end.addingTimeInterval(-60)).isTrusted)
        #expect(
            try decision(site, trust, anchors: site.anchors, at: end.addingTimeInterval(86_400)).failure?.code
                == .rejectedBySystem)
    }

    @Test("Anchors of a decision are gone after it, and the application's own are there again")
    func anchorsAreRestored() throws {
        let site = try AppleSite()
        try site.pin()
        let trust = try site.secTrust()
        #expect(try decision(site, trust, anchors: site.anchors).isTrusted)
        #expect(try !decision(site, trust, anchors: nil).isTrusted)
        #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
        let others = try TrustAnchors(der: [TestAuthority.root().root])
        #expect(try !decision(site, trust, anchors: others).isTrusted)
        #expect(try decision(site, trust, anchors: nil).isTrusted)
    }

    @Test("The application's own date is there again after a decision for another time")
    func dateIsRestored() throws {
        let site = try AppleSite()
        try site.pin()
        let date = try #require(site.leaf.notAfter).addingTimeInterval(-600)
        let trust = try site.secTrust()
        #expect(SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
        #expect(try decision(site, trust, anchors: site.anchors, at: date.addingTimeInterval(60)).isTrusted)
        #expect(SecTrustGetVerifyTime(trust) == date.timeIntervalSinceReferenceDate)
    }

    @Test("A certificate that names no list or responder passes unless its status is required")
    func revocation() throws {
        let site = try AppleSite()
        try site.pin()
        for (revocation, isTrusted) in [
            (SystemRevocation.system, true), (.checked, true), (.withoutNetwork, true), (.required, false),
        ] {
            let decision = try decision(site, site.secTrust(), anchors: site.anchors, revocation: revocation)
            #expect(decision.isTrusted == isTrusted, "\(revocation): \(decision.failure?.description ?? "accepted")")
        }
    }

    @Test("A decision leaves the setting about the network as it was")
    func networkSetting() throws {
        let site = try AppleSite()
        try site.pin()
        let trust = try site.secTrust()
        #expect(try decision(site, trust, anchors: site.anchors, revocation: .withoutNetwork).isTrusted)
        var allowsFetch = DarwinBoolean(false)
        #expect(unsafe SecTrustGetNetworkFetchAllowed(trust, &allowsFetch) == errSecSuccess)
        #expect(allowsFetch.boolValue)
    }

    @Test("Pins alone may decide where the policy says so, without an anchor")
    func pinOnly() throws {
        let site = try AppleSite()
        let pins = try PinSet(pins: [Pin.publicKey(of: site.leaf.der)])
        let policy = try PinnedPolicy(host: site.pattern, pins: pins, certificatePinOnly: true)
        #expect(policy.evaluate(ServerTrust(try site.secTrust(), host: try site.host), at: .now).isTrusted)
        let impostor = try site.secTrust(site.impostor().chain)
        #expect(!policy.evaluate(ServerTrust(impostor, host: try site.host), at: .now).isTrusted)
    }

    @Test("On the main thread a decision is made as anywhere else")
    @MainActor func mainThread() throws {
        let site = try AppleSite()
        try site.pin()
        #expect(try decision(site, site.secTrust(), anchors: site.anchors).isTrusted)
        #expect(try !decision(site, site.secTrust(), anchors: nil).isTrusted)
    }

    @Test("Decisions at once about one trust do not judge by one another's anchors")
    func concurrently() async throws {
        let site = try AppleSite()
        try site.pin()
        let (host, anchors) = (try site.host, try site.anchors)
        let trust = ServerTrust(try site.secTrust(), host: host)
        let secTrust = SharedReference(try #require(trust.secTrust))
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let given = number.isMultiple(of: 2) ? anchors : nil
                    let trust = ServerTrust(secTrust.get, host: host, anchors: given)
                    return site.manager.evaluate(trust).isTrusted != (given != nil)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wrong == 0)
    }

    @Test("A chain in DER, as SwiftNIO has it, is validated by the system too")
    func chainsInDER() throws {
        let site = try AppleSite()
        try site.pin()
        for anchors in [try site.anchors, nil] {
            let trust = ServerTrust(
                chain: PresentedChain(site.leaf.chain), purpose: .server(identity: try site.host),
                validator: SystemChainValidator(anchors: anchors))
            #expect(site.manager.evaluate(trust).isTrusted == (anchors != nil))
        }
    }
}
