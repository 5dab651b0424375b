import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastReports

@Suite("What a decision means for reports")
struct ObservationTests {
    private let scene: ReportScene

    init() throws { scene = try ReportScene() }

    private func observation(
        _ file: PinFile, _ certificate: TestCertificate, host: String = "api.example.com", namesHosts: Bool = false
    ) throws -> Observation? {
        Observation(
            scene.manager(file).evaluate(try scene.trust(certificate, host: host)), namesHosts: namesHosts)
    }

    private func codes(_ observation: Observation?) -> [String] {
        (observation?.failures ?? []).map { "\($0.failure.code) \($0.outcome)" }
    }

    @Test("A connection with a pin is a success, one without is a failure that was rejected")
    func enforced() throws {
        let file = try scene.pinFile()
        let good = try #require(try observation(file, scene.leaf))
        #expect(good.isSuccess && !good.isFailure && good.failures.isEmpty)
        let bad = try #require(try observation(file, scene.impostor))
        #expect(codes(bad) == ["pinMismatch rejected"] && bad.isFailure && !bad.isSuccess)
        #expect(bad.host == "api.example.com" && bad.documentVersion == "20261121T120000Z")
    }

    @Test("In report mode a mismatch is a failure that was accepted")
    func reportMode() throws {
        let seen = try #require(try observation(try scene.pinFile(enforcement: .reportOnly), scene.impostor))
        #expect(codes(seen) == ["pinMismatch accepted"] && seen.isFailure)
    }

    @Test("A candidate that does not match is reported, and the connection is a success")
    func candidate() throws {
        let pin = try Pin(subject: .publicKey, digest: [UInt8](repeating: 9, count: 32))
        let file = try scene.pinFile(candidate: pin)
        let decision = scene.manager(file).evaluate(try scene.trust(scene.leaf))
        let seen = try #require(Observation(decision, namesHosts: false))
        #expect(codes(seen) == ["candidatePinMismatch accepted"] && seen.isSuccess && !seen.isFailure)
        let application = try ReportedApplication(identifier: "app", version: "1", platform: "linux")
        let facts = seen.facts(
            of: seen.failures[0].failure, .accepted, by: application, at: scene.clock.now, fraction: 1,
            withChains: false)
        #expect(facts.knownPins == [pin.description])
        #expect(facts.pins.map(\.state) == ["active", "backup", "candidate"])
        #expect(facts.pins.map(\.role) == ["leaf", "leaf", "leaf"])
    }

    @Test("Pins that ran out are a failure, whether they reject or give way")
    func expired() throws {
        let log = RecordingLog()
        for (action, expected) in [
            (PinSet.ExpiryAction.reject, "pinsExpired rejected"), (.standardValidation, "pinsExpired accepted"),
        ] {
            let file = try scene.pinFile(until: "2026-11-25T00:00:00Z", afterExpiry: action)
            let seen = try PolicyLog.$shared.withValue(log.policyLog) { try observation(file, scene.leaf) }
            #expect(codes(seen) == [expected] && seen?.isFailure == true)
        }
    }

    @Test("A chain of a stranger's authority is a failure of a pinned host")
    func stranger() throws {
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        let seen = try observation(
            try scene.pinFile(), try stranger.leaf(names: ["api.example.com"]))
        #expect(codes(seen) == ["unknownIssuer rejected"])
    }

    @Test("A host without pins is no matter of reports, whatever became of it")
    func unpinned() throws {
        let manager = TrustManager(
            policies: [StandardPolicy(host: try HostPattern("api.example.com"))], clock: scene.clock)
        for host in ["api.example.com", "other.example"] {
            let decision = manager.evaluate(try scene.trust(scene.leaf, host: host))
            #expect(Observation(decision, namesHosts: false) == nil)
        }
    }

    @Test("A host under a pattern is named by the pattern, unless the application asks for names")
    func patterns() throws {
        let other = try ReportScene(host: "alice.users.example.com")
        let file = try other.pinFile("**.example.com")
        let decision = other.manager(file).evaluate(
            try other.trust(other.impostor, host: "alice.users.example.com"))
        #expect(Observation(decision, namesHosts: false)?.host == "**.example.com")
        #expect(Observation(decision, namesHosts: true)?.host == "alice.users.example.com")
    }

    @Test("Pins in code have no document, so their version is unknown and their destination the first")
    func pinsInCode() throws {
        let pins = try PinSet(pins: [Pin.publicKey(of: scene.leaf.der)])
        let policy = try PinnedPolicy(host: HostPattern("api.example.com"), pins: pins)
        let manager = TrustManager(policies: [policy], clock: scene.clock)
        let seen = try #require(
            Observation(manager.evaluate(try scene.trust(scene.impostor)), namesHosts: false))
        #expect(seen.documentVersion == "-" && seen.destination == .unstated)
    }

    @Test("The pin file says where reports go and how many: nowhere without the field")
    func destination() throws {
        let report = ReportScene.report(failures: 500_000, successes: 1_000)
        let named = try observation(try scene.pinFile(report: report), scene.leaf)
        #expect(
            named?.destination
                == .named(ReportScene.collector, Observation.Sampling(failures: 0.5, successes: 0.001)))
        #expect(try observation(try scene.pinFile(report: nil), scene.leaf)?.destination == .nowhere)
    }

    @Test("In a composite the document of the member speaks")
    func composite() throws {
        let member = try #require(scene.manager(try scene.pinFile()).policy(for: "api.example.com"))
        let host = try HostPattern("api.example.com")
        let policy = try CompositePolicy(host: host, allOf: [StandardPolicy(host: host), member])
        let manager = TrustManager(policies: [policy], clock: scene.clock)
        let seen = Observation(manager.evaluate(try scene.trust(scene.impostor)), namesHosts: false)
        #expect(codes(seen) == ["pinMismatch rejected"] && seen?.documentVersion == "20261121T120000Z")
    }

    @Test("Chains are there only where they are asked for, and within their limits")
    func chains() throws {
        let decision = scene.manager(try scene.pinFile()).evaluate(try scene.trust(scene.impostor))
        let seen = try #require(Observation(decision, namesHosts: false))
        let application = try ReportedApplication(identifier: "app", version: "1", platform: "linux")
        func facts(_ withChains: Bool) -> FailureFacts {
            seen.facts(
                of: seen.failures[0].failure, .rejected, by: application, at: scene.clock.now, fraction: 1,
                withChains: withChains)
        }
        #expect(facts(false).served.isEmpty && facts(false).validated.isEmpty)
        #expect(facts(true).served == [Data(scene.impostor.der).base64EncodedString()])
        #expect(facts(true).validated.count == 2)
        let long = [[UInt8]](repeating: [UInt8](repeating: 1, count: 3_000), count: 50)
        #expect(ChainText.of(long).count == 5)
        #expect(ChainText.of([[UInt8]](repeating: [1], count: 50)).count == ChainText.mostCertificates)
    }
}
