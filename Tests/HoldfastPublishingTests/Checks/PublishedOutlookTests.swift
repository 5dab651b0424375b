import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("What a check says of clients that have published pins", .timeLimit(.minutes(15)))
struct PublishedOutlookTests {
    private let scene: CheckScene
    private let other: TestCertificate

    init() throws {
        scene = try CheckScene()
        other = try scene.issuing.leaf(names: [.dns(CheckScene.name)])
    }

    private static func pin(
        _ certificate: TestCertificate, _ role: PinFile.KeyPin.Role = .leaf, _ state: PinFile.KeyPin.State = .active,
        until end: Date? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(Pin.publicKey(of: certificate.der), role: role, state: state, notAfter: end)
    }

    private func report(
        _ published: [PublishedPins], host: String = CheckScene.name,
        versions: PublicationOutlook.AppVersions? = nil, replaced: [PublicationOutlook.Document] = [],
        staleness: Duration = .seconds(30 * 86_400), watch: Duration? = nil,
        platforms: [PublicationOutlook.Platform]? = nil
    ) async throws -> CheckReport {
        let all = try #require(PublishedPinVersions(published))
        let dialed = try DialedHost(host, port: 443)
        let policy = try PolicyLog.$shared.withValue(RecordingLog().policyLog) { try all.policy(of: dialed) }
        var reports = [
            await (try scene.checking()).report(
                on: try scene.leaf.chain.map { try X509Certificate(der: $0) }, of: dialed, by: policy, at: scene.now)
        ]
        let names = published.flatMap(\.document.appVersions)
        try PublishedOutlook(
            documents: published.map(\.document) + replaced,
            platforms: platforms ?? [.init("company root", trusting: try scene.anchors)],
            appVersions: versions ?? (names.isEmpty ? .noShippedPins : .versions(names.map { .init($0) })),
            staleness: staleness, watch: watch.map { ExpiryWatch(span: $0) }
        ).judge(&reports, at: scene.now)
        return reports[0]
    }

    private func pins(_ host: PinFile.Host, notAfter: Date? = nil, in version: String = "1") throws -> PublishedPins {
        try PublishedPins(
            pinFile: Data(PinFile(notAfter: notAfter, hosts: [host]).json), named: "\(version).pins.json",
            carriedBy: [version], at: scene.now)
    }

    private func list(_ certificates: TestCertificate..., key: SigningKey, named name: String = "pins.json") throws
        -> PublishedPins
    {
        let entries = try certificates.map {
            try FingerprintEntry(
                name: CheckScene.name, pin: .certificate($0.der), until: scene.now.addingTimeInterval(30 * 86_400))
        }
        return try PublishedPins(
            list: PinListDraft(entries).signed(by: key), named: name, key: key.publicKey, at: scene.now)
    }

    @Test("The verdict is that of an installed client: roles, states, modes and ends count as there")
    func pinFiles() async throws {
        let (leaf, issuer) = (scene.leaf, scene.issuing.certificate)
        let (pattern, past) = (try HostPattern(CheckScene.name), scene.now.addingTimeInterval(-86_400))
        for host in [
            try PinFile.Host(pattern, pins: [Self.pin(leaf)]),
            try PinFile.Host(pattern, pins: [Self.pin(other), Self.pin(issuer, .issuer)]),
            try PinFile.Host(
                pattern, requirement: .oneOfEachRole, pins: [Self.pin(leaf), Self.pin(issuer, .issuer)]),
            try PinFile.Host(pattern, enforcement: .reportOnly, pins: [Self.pin(other)]),
            try PinFile.Host(pattern, afterExpiry: .standardValidation, pins: [Self.pin(leaf, until: past)]),
        ] {
            let report = try await report([pins(host)])
            #expect(report.outcome == .trusted && report.published?.isLockedOut == false, "\(host)")
        }
        for (host, code) in [
            (try PinFile.Host(pattern, pins: [Self.pin(other)]), "pinMismatch"),
            (try PinFile.Host(pattern, pins: [Self.pin(leaf, .issuer)]), "pinMismatch"),
            (try PinFile.Host(pattern, pins: [Self.pin(issuer)]), "pinMismatch"),
            (try PinFile.Host(pattern, pins: [Self.pin(other), Self.pin(leaf, .leaf, .candidate)]), "pinMismatch"),
            (
                try PinFile.Host(
                    pattern, requirement: .oneOfEachRole, pins: [Self.pin(leaf), Self.pin(other, .issuer)]),
                "pinMismatch"
            ),
            (try PinFile.Host(pattern, pins: [Self.pin(leaf, until: past)]), "pinsExpired"),
            (try PinFile.Host.retired(pattern), "hostRetired"),
        ] {
            let report = try await report([pins(host)])
            #expect(report.outcome == .untrusted && report.published?.isLockedOut == true, "\(host)")
            #expect(report.failure?.code == code, "\(host)")
        }
        let ended = try await report(
            [pins(PinFile.Host(pattern, pins: [Self.pin(leaf)]), notAfter: scene.now.addingTimeInterval(-43_200))])
        #expect(ended.published?.isLockedOut == true)
        let reported = try await report(
            [pins(PinFile.Host(pattern, enforcement: .reportOnly, pins: [Self.pin(other)]))])
        #expect(reported.published?.text.contains("mode report") == true)
        let stranger = try await report([pins(PinFile.Host(pattern, pins: [Self.pin(leaf)]))], host: "www.example.com")
        #expect(stranger.failure?.code == "noUsablePins" || stranger.failure?.code == "hostMismatch")
    }

    @Test("All of several versions must let a server in, in whatever order they are named")
    func versions() async throws {
        let pattern = try HostPattern(CheckScene.name)
        let good = try pins(PinFile.Host(pattern, pins: [Self.pin(scene.leaf)]), in: "1")
        let bad = try pins(PinFile.Host(pattern, pins: [Self.pin(other)]), in: "2")
        for published in [[good, bad], [bad, good]] {
            let report = try await report(published)
            #expect(report.outcome == .untrusted && report.publishedVersions?.count == 2)
            #expect(report.published?.text.contains("2.pins.json") == true)
        }
        #expect(try await report([good]).outcome == .trusted)
    }

    @Test("Clients that nobody named are unknown; what was replaced and other platforms count as they are named")
    func clients() async throws {
        let key = SigningKey()
        let published = try list(scene.leaf, key: key)
        let open = try await report([published], versions: .unknown)
        #expect(open.outcome == .unknown && open.published?.text.contains("app versions unknown") == true)
        var old = try list(other, key: key, named: "old.json").document
        (old.published, old.replaced) = (.distantPast, scene.now.addingTimeInterval(-86_400))
        let replaced = try await report([published], replaced: [old])
        #expect(replaced.outcome == .untrusted && replaced.published?.text.contains("was replaced") == true)
        #expect(try await report([published], replaced: [old], staleness: .seconds(3_600)).outcome == .trusted)
        let stranger = try TestAuthority.root(name: "Another")
        let elsewhere = try await report(
            [published], platforms: [.init("other", anchors: [Data(stranger.root)])])
        #expect(elsewhere.outcome == .untrusted && elsewhere.published?.cause == "certificate")
    }

    @Test("A verdict says what it rests on, and a verdict without published pins rests on nothing else")
    func premises() async throws {
        let file = try pins(PinFile.Host(HostPattern(CheckScene.name), pins: [Self.pin(scene.leaf)]))
        let premises = try #require(try await report([file]).premises)
        for words in ["1 app version: 1", "1 document: 1.pins.json", "at least every 30d", "company root: 1 anchor"] {
            #expect(premises.contains { $0.contains(words) }, "\(words): \(premises)")
        }
        #expect(premises.contains { $0.contains("clocks are right") && $0.contains(scene.now.formatted(.iso8601)) })
        #expect(try await scene.report().premises == nil)
    }

    @Test("Of a trust server's entries for a host the one for the port counts, also beside one without a port")
    func ports() async throws {
        let server = try TestTrustServer()
        for (any, own, outcome) in [(scene.leaf, other, CheckReport.Outcome.untrusted), (other, scene.leaf, .trusted)] {
            let hosts = [
                TestTrustServer.Host(CheckScene.name, port: nil, [any]),
                TestTrustServer.Host(CheckScene.name, port: 443, [own]),
            ]
            let pins = try PublishedPins(
                trustServerDocument: server.document(at: scene.now.addingTimeInterval(-60), hosts),
                named: "gcx.json.signed", signer: server.certificate, customer: "gcx", at: scene.now)
            #expect(try await report([pins]).outcome == outcome)
        }
    }

    @Test("A trust server without fresh rounds is never good: clients that begin take no document of 20 hours ago")
    func staleTrustServer() async throws {
        let server = try TestTrustServer()
        // The last of them has 33 minutes left of its 25 hours.
        for (age, outcome) in [(60, CheckReport.Outcome.trusted), (72_000, .untrusted), (88_020, .untrusted)] {
            let time = scene.now.addingTimeInterval(-Double(age))
            let pins = try PublishedPins(
                trustServerDocument: server.document(at: time, [.init(CheckScene.name, [scene.leaf])]),
                named: "gcx.json.signed", signer: server.certificate, customer: "gcx", at: scene.now)
            let report = try await report([pins], watch: .seconds(86_400))
            #expect(report.outcome == outcome, "\(age)")
            #expect(report.published?.text.contains("that begin") == (outcome == .untrusted))
        }
    }
}
