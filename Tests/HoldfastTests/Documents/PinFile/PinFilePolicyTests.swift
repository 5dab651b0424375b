import Foundation
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Policies of a pin file", .timeLimit(.minutes(15)))
struct PinFilePolicyTests {
    private let scene: PinFileScene

    init() throws { scene = try PinFileScene() }

    private func after(_ hours: Double) -> Date { scene.now.addingTimeInterval(hours * 3_600) }

    private func code(_ decision: TrustDecision) -> TrustFailure.Code? { decision.failure?.code }

    // MARK: Roles

    @Test("A leaf pin matches the server's own key only, an issuer pin any certificate above it in a validated path")
    func roles() throws {
        let pins = try [scene.leafPin, scene.issuingPin, scene.rootPin]
        for (position, pin) in pins.enumerated() {
            for role in PinFile.KeyPin.Role.allCases {
                let decision = try scene.decision(scene.file([scene.pin(pin, role)]))
                let matches = (position == 0) == (role == .leaf)
                #expect(decision.isTrusted == matches)
                #expect(code(decision) == (matches ? nil : .pinMismatch))
                #expect(decision.matchedPins == (matches ? [pin] : []))
                if !matches { #expect(decision.failure?.found == "a pin in another role") }
            }
        }
    }

    @Test("An issuer that is only presented, and on no validated path, matches nothing")
    func presentedOnly() throws {
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        let file = try scene.file([scene.pin(.publicKey(of: stranger.der), .issuer)])
        let trust = try scene.trust(scene.leaf.chain + [stranger.der])
        #expect(try code(scene.decision(file, trust)) == .pinMismatch)
    }

    @Test("A path with the pin is looked for among all that are valid")
    func crossSigned() throws {
        let other = try TestAuthority.root(name: "Other Root", clock: scene.clock)
        let crossed = try other.crossSign(scene.issuing)
        let trust = try scene.trust(
            scene.leaf.chain + [crossed.der], anchors: [scene.root.root, other.root])
        for root in [scene.root, other] {
            let decision = try scene.decision(scene.file([scene.pin(.publicKey(of: root.der), .issuer)]), trust)
            #expect(decision.isTrusted && decision.path?.anchor?.der == root.der)
        }
    }

    @Test("leafAndIssuer wants both, any is content with one")
    func requirement() throws {
        let (leaf, issuer) = try (scene.pin(scene.leafPin), scene.pin(scene.rootPin, .issuer))
        let (otherLeaf, otherIssuer) = try (scene.pin(PinFileText.pin(1)), scene.pin(PinFileText.pin(2), .issuer))
        for (pins, both, any) in [
            ([leaf, issuer], true, true), ([leaf, otherIssuer], false, true), ([otherLeaf, issuer], false, true),
            ([otherLeaf, otherIssuer], false, false), ([otherLeaf, leaf, otherIssuer, issuer], true, true),
        ] {
            #expect(try scene.decision(scene.file(pins, require: .oneOfEachRole)).isTrusted == both)
            #expect(try scene.decision(scene.file(pins)).isTrusted == any)
        }
        let matched = try scene.decision(scene.file([leaf, issuer], require: .oneOfEachRole)).matchedPins
        #expect(try matched == [scene.leafPin, scene.rootPin])
    }

    @Test("Standard validation is asked for in every mode: another host, another root, an expired leaf are rejected")
    func standardValidation() throws {
        let file = try scene.file([scene.pin(scene.leafPin)])
        let other = try scene.issuing.leaf(names: ["other.example.com"], key: .existing(scene.leaf.key))
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock).root
        for enforcement in PinSet.Enforcement.allCases {
            let file = try scene.file([scene.pin(scene.leafPin)], enforcement: enforcement)
            #expect(try code(scene.decision(file, scene.trust(other.chain))) == .hostNameMismatch)
            #expect(try code(scene.decision(file, scene.trust(anchors: [stranger]))) == .unknownIssuer)
            #expect(try code(scene.decision(file, at: after(24 * 365))) == .expired)
        }
        #expect(try scene.decision(file).matchedPins.map(\.subject) == [.publicKey])
    }

    // MARK: Modes and states

    @Test("In mode report a mismatch is a notice, and the connection goes on")
    func report() throws {
        let decision = try scene.decision(scene.file([scene.pin(PinFileText.pin(1))], enforcement: .reportOnly))
        #expect(decision.isTrusted && decision.notices.map(\.code) == [.pinMismatch] && decision.matchedPins.isEmpty)
        let matching = try scene.decision(scene.file([scene.pin(scene.leafPin)], enforcement: .reportOnly))
        #expect(try matching.isTrusted && matching.notices.isEmpty && matching.matchedPins == [scene.leafPin])
    }

    @Test("Active, backup and retiring pins match alike")
    func states() throws {
        for state in [PinFile.KeyPin.State.active, .backup, .retiring] {
            #expect(try scene.decision(scene.file([scene.pin(scene.leafPin, .leaf, state)])).isTrusted)
        }
    }

    @Test("A candidate is never accepted; whether it matches is a notice")
    func candidates() throws {
        let isCandidate = try scene.pin(scene.leafPin, .leaf, .candidate)
        let rejected = try scene.decision(scene.file([scene.pin(PinFileText.pin(1)), isCandidate]))
        #expect(code(rejected) == .pinMismatch && rejected.failure?.found.contains("candidate") == true)
        #expect(try rejected.failure?.pins.contains(scene.leafPin) == false)
        let issuer = try scene.pin(scene.rootPin, .issuer)
        let matching = try scene.decision(scene.file([issuer, isCandidate]))
        #expect(try matching.isTrusted && matching.notices.isEmpty && matching.matchedPins == [scene.rootPin])
        let absent = try scene.decision(scene.file([issuer, scene.pin(PinFileText.pin(1), .leaf, .candidate)]))
        #expect(absent.isTrusted && absent.notices.map(\.code) == [.candidatePinMismatch])
        #expect(absent.notices.first?.pins == [PinFileText.pin(1)])
        let over = try scene.pin(PinFileText.pin(1), .leaf, .candidate, until: after(-1))
        #expect(try scene.decision(scene.file([issuer, over])).notices.isEmpty)
    }

    @Test("A retired host is rejected, before and after the file's end, and the message says so")
    func retired() throws {
        let file = try PinFile(notAfter: scene.now, hosts: [.retired(HostPattern("**.example.com"))])
        for time in [scene.now, after(24)] {
            let decision = try scene.decision(file, at: time)
            #expect(code(decision) == .hostRetired)
            #expect(decision.failure?.description.contains("retired") == true)
            #expect(decision.failure?.host?.name == PinFileScene.host)
        }
        #expect(try code(scene.decision(file, scene.trust(host: "other.example.net"))) == .noPolicyForHost)
    }

    // MARK: Ports

    @Test("Ports that are listed are judged, another is rejected, and one that is not known is judged")
    func ports() throws {
        let file = try scene.file([scene.pin(scene.leafPin)], ports: [443, 8_443])
        for (port, expected) in [(443, nil), (8_443, nil), (nil, nil), (444, .hostNotCovered)]
            as [(Int?, TrustFailure.Code?)]
        {
            #expect(try code(scene.decision(file, scene.trust(port: port))) == expected)
        }
        let failure = try scene.decision(file, scene.trust(port: 444)).failure
        #expect(failure?.expected.contains("443 or 8443") == true && failure?.found == "port 444")
        let any = try scene.file([scene.pin(scene.leafPin)])
        #expect(try scene.decision(any, scene.trust(port: 444)).isTrusted)
    }

    // MARK: Time

    /// Trusted until `end`, and from then on what `code` says; nil for trusted by standard validation, with a notice.
    private func expectEnd(
        _ end: Date, of file: PinFile, then code: TrustFailure.Code?, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let decision = try scene.decision(file)
        #expect(decision.isTrusted && decision.holdsUntil == end, sourceLocation: location)
        let before = try scene.decision(file, at: end.addingTimeInterval(-0.001))
        #expect(before.isTrusted && before.notices.isEmpty, sourceLocation: location)
        let later = try scene.decision(file, at: end)
        #expect(self.code(later) == code, sourceLocation: location)
        guard code == nil else { return }
        let certificate = try X509Certificate(der: scene.leaf.der).notAfter.addingTimeInterval(1)
        #expect(later.notices.map(\.code) == [.pinsExpired], sourceLocation: location)
        #expect(later.holdsUntil == certificate, sourceLocation: location)
    }

    @Test("A pin counts through the second of its notAfter, the file's through that of notAfter and its grace")
    func ends() throws {
        let until = after(1)
        let next = until.addingTimeInterval(1)
        let short = try scene.pin(scene.leafPin, until: until)
        try expectEnd(next, of: scene.file([short]), then: .pinsExpired)
        let whole = try scene.pin(scene.leafPin)
        try expectEnd(next, of: scene.file([whole], notAfter: until), then: .pinsExpired)
        try expectEnd(
            next.addingTimeInterval(600), of: scene.file([whole], notAfter: until, grace: 600), then: .pinsExpired)
        // The earliest of both.
        try expectEnd(next, of: scene.file([short], notAfter: after(2)), then: .pinsExpired)
        try expectEnd(
            next, of: scene.file([scene.pin(scene.leafPin, until: after(2))], notAfter: until), then: .pinsExpired)
    }

    @Test("A pin that ran out beside others no longer matches, and nothing else changes")
    func oneOfSeveral() throws {
        let end = after(1).addingTimeInterval(1)
        let other = try scene.pin(PinFileText.pin(1))
        try expectEnd(end, of: scene.file([scene.pin(scene.leafPin, until: after(1)), other]), then: .pinMismatch)
        // Of two that match, the decision rests on one, and so on the later.
        let both = try scene.file([
            scene.pin(scene.leafPin, until: after(1)), scene.pin(scene.rootPin, .issuer, until: after(2)), other,
        ])
        try expectEnd(after(2).addingTimeInterval(1), of: both, then: .pinMismatch)
        let required = try scene.file(
            [scene.pin(scene.leafPin, until: after(1)), scene.pin(scene.rootPin, .issuer, until: after(2)), other],
            require: .oneOfEachRole)
        try expectEnd(end, of: required, then: .pinMismatch)
        let alone = try scene.file(
            [scene.pin(scene.leafPin, until: after(1)), scene.pin(scene.rootPin, .issuer, until: after(2))],
            require: .oneOfEachRole)
        try expectEnd(end, of: alone, then: .pinsExpired)
    }

    @Test("onExpiry systemTrust leaves standard validation when the pins have run out, and says so")
    func systemTrust() throws {
        let end = after(1).addingTimeInterval(1)
        let pin = try scene.pin(scene.leafPin)
        try expectEnd(end, of: scene.file([pin], afterExpiry: .standardValidation, notAfter: after(1)), then: nil)
        let mismatch = try scene.file(
            [scene.pin(PinFileText.pin(1))], afterExpiry: .standardValidation, notAfter: after(1))
        #expect(try code(scene.decision(mismatch)) == .pinMismatch)
        #expect(try scene.decision(mismatch, at: end).isTrusted)
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock).root
        #expect(try code(scene.decision(mismatch, scene.trust(anchors: [stranger]), at: end)) == .unknownIssuer)
        // In mode report nothing is kept out by pins that have run out either.
        let report = try scene.file([pin], enforcement: .reportOnly, notAfter: after(1))
        #expect(try scene.decision(report, at: end).notices.map(\.code) == [.pinsExpired])
        #expect(scene.log.lines.contains { $0.contains("the pins have expired") })
    }

    @Test("Nothing rests on pins that are only reported on, and a time that is no number finds no pin")
    func reportEnds() throws {
        let end = try X509Certificate(der: scene.leaf.der).notAfter.addingTimeInterval(1)
        let file = try scene.file([scene.pin(scene.leafPin)], enforcement: .reportOnly, notAfter: after(1))
        #expect(try scene.decision(file).holdsUntil == end)
        let enforced = try scene.file([scene.pin(scene.leafPin)], notAfter: after(1))
        #expect(try !scene.decision(enforced, at: Date(timeIntervalSince1970: .nan)).isTrusted)
    }

    // MARK: The manager

    @Test("A manager from a file, from data and from a value decides alike, and throws with field and remedy")
    func makers() async throws {
        let file = try scene.file([scene.pin(scene.leafPin), scene.pin(PinFileText.pin(1), .leaf, .backup)])
        try await withTemporaryFolder { folder in
            let url = folder.appending(path: "bank.pins.json")
            try file.json.write(to: url)
            for manager in try [
                TrustManager(pinFile: url, clock: scene.clock), TrustManager(pinFile: file.json, clock: scene.clock),
                TrustManager(file, clock: scene.clock),
            ] {
                #expect(manager.allNames == [PinFileScene.host])
                #expect(try manager.evaluate(scene.trust()).isTrusted)
            }
            try Data(#"{"schema":1,"hosts":[{"host":"a.b","pins":[{"pin":"sha1/x"}]}]}"#.utf8).write(to: url)
            do throws(PinFileError) {
                _ = try TrustManager(pinFile: url)
                Issue.record("made")
            } catch {
                #expect(error.place == "invalidPin hosts[0].pins[0].pin" && !error.remedy.isEmpty)
                #expect(error.description.contains("hosts[0].pins[0].pin"))
            }
        }
    }

    @Test("Hosts without a backup are named in the log once")
    func missingBackup() throws {
        let file = try scene.file([scene.pin(scene.leafPin)])
        PolicyLog.$shared.withValue(scene.log.policyLog) {
            for _ in 0..<3 { _ = TrustManager(file, clock: scene.clock) }
        }
        #expect(scene.log.lines.count { $0.contains("no backup pin") && $0.contains(PinFileScene.host) } == 1)
        let backed = try scene.file([scene.pin(scene.leafPin), scene.pin(PinFileText.pin(1), .leaf, .backup)])
        let log = RecordingLog()
        PolicyLog.$shared.withValue(log.policyLog) { _ = TrustManager(backed, clock: scene.clock) }
        #expect(log.lines.isEmpty)
    }

    @Test("Pins in their roles cost no validation work beyond the standard one")
    func work() throws {
        let standard = StandardPolicy(host: try HostPattern(PinFileScene.host)).evaluate(
            try scene.trust(), at: scene.now)
        let others = try (1...30).map { try scene.pin(PinFileText.pin($0), $0 % 2 == 0 ? .leaf : .issuer) }
        let decision = try scene.decision(scene.file(others + [scene.pin(scene.leafPin)]))
        #expect(decision.isTrusted && decision.effort == standard.effort)
        let mismatch = try scene.decision(scene.file(others))
        #expect(mismatch.effort.signatures == standard.effort.signatures)
    }

    @Test("A policy in mode report may not stand among any, and clients are not judged")
    func composites() throws {
        let enforced = try scene.file([scene.pin(scene.leafPin)]).policies()
        let reported = try scene.file([scene.pin(scene.leafPin)], enforcement: .reportOnly).policies()
        let host = try HostPattern(PinFileScene.host)
        #expect(try CompositePolicy(host: host, anyOf: enforced).evaluate(scene.trust(), at: scene.now).isTrusted)
        #expect(throws: PolicyConfigurationError.self) { try CompositePolicy(host: host, anyOf: reported) }
        #expect(try CompositePolicy(host: host, allOf: reported).evaluate(scene.trust(), at: scene.now).isTrusted)
        let client = ServerTrust(
            chain: PresentedChain(scene.leaf.chain), purpose: .client,
            validator: PathValidator(anchors: try TrustAnchors(der: [scene.root.root])))
        #expect(enforced[0].evaluate(client, at: scene.now).failure?.code == .hostNotCovered)
    }
}

#if DEBUG
@Suite("Debug anchors of a pin file")
struct PinFileDebugTests {
    private let scene: PinFileScene
    private let proxy: TestAuthority
    private let file: PinFile
    private let trust: ServerTrust

    init() throws {
        scene = try PinFileScene()
        proxy = try TestAuthority.root(name: "Debug Proxy", clock: scene.clock)
        let anchor = try X509Certificate(der: proxy.root)
        file = try scene.file(
            [scene.pin(scene.leafPin), scene.pin(PinFileText.pin(1), .leaf, .backup)], debugAnchors: [anchor])
        trust = try scene.trust(proxy.leaf(names: [.dns(PinFileScene.host)]).chain)
    }

    @Test("They count only where the app asks for them")
    func onlyWhenAsked() throws {
        let refused = scene.manager(file).evaluate(trust)
        #expect(refused.failure?.code == .unknownIssuer && scene.log.lines.isEmpty)
        let decision = scene.manager(file, overrides: .debugOverrides).evaluate(trust)
        #expect(decision.isTrusted && decision.notices.map(\.code) == [.debugAnchorUsed])
        #expect(decision.path?.anchor?.der == proxy.root && decision.matchedPins.isEmpty)
    }

    @Test("Each use is logged")
    func logged() throws {
        let manager = scene.manager(file, overrides: .debugOverrides)
        for _ in 0..<3 { _ = manager.evaluate(trust) }
        #expect(scene.log.lines.count { $0.contains("debug anchor") && $0.contains("Debug Proxy") } == 3)
        #expect(scene.log.lines.allSatisfy { $0.contains(PinFileScene.host) })
        _ = manager.evaluate(try scene.trust())
        #expect(scene.log.lines.count == 3)
    }

    @Test("The server itself is trusted by its pins as ever, and nobody else is let in")
    func nothingElse() throws {
        let manager = scene.manager(file, overrides: .debugOverrides)
        let own = manager.evaluate(try scene.trust())
        #expect(own.isTrusted && own.notices.isEmpty)
        let otherHost = try scene.trust(proxy.leaf(names: ["other.example.com"]).chain)
        #expect(manager.evaluate(otherHost).failure?.code == .hostNameMismatch)
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        let strange = try scene.trust(stranger.leaf(names: [.dns(PinFileScene.host)]).chain)
        #expect(manager.evaluate(strange).failure?.code == .unknownIssuer)
        let otherPort = try scene.trust(trust.chain.certificates, host: "api.example.net")
        #expect(manager.evaluate(otherPort).failure?.code == .noPolicyForHost)
    }

    @Test("They do not bring a retired host back")
    func retired() throws {
        let retired = try PinFile(
            hosts: [.retired(HostPattern(PinFileScene.host))], debugAnchors: file.debugAnchors)
        let decision = scene.manager(retired, overrides: .debugOverrides).evaluate(trust)
        #expect(decision.failure?.code == .hostRetired)
    }
}
#endif
