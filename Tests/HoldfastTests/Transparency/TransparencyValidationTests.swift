import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Transparency that is required of servers")
struct TransparencyValidationTests {
    private var scene: TransparencyScene
    private let host: DialedHost

    init() throws {
        scene = try TransparencyScene()
        host = try DialedHost(Judge.host)
    }

    @Test("The failure names each timestamp, its log, and why it does not count")
    func failure() throws {
        let unknown = try TestTransparencyLog()
        var forged = TestTimestamp(of: scene.logs[1])
        forged.signer = try TestKey()
        var cut = TestTimestamp(of: scene.logs[1])
        cut.change = { Array($0.dropLast()) }
        let leaf = try scene.leaf([TestTimestamp(of: scene.logs[0]), forged, cut, TestTimestamp(of: unknown)])
        let failure = try #require(try scene.outcome(leaf).failure)
        let date = Judge.now.addingTimeInterval(-3_600).formatted(.iso8601)
        #expect(failure.code == .notTransparent && failure.certificate?.der == leaf.der)
        #expect(
            failure.description.hasPrefix(
                """
                notTransparent for www.example.com: expected 2 timestamps of distinct logs and two operators, one of a log \
                that is not retired, found 1 that count, and timestamps of one operator
                  certificate: CN=www.example.com
                  timestamp 1 of "Log 0" (operator "One"), \(date): counts
                  timestamp 2 of "Log 1" (operator "One"), \(date): does not count: its signature does not verify under \
                the log's key
                  timestamp 3: does not count: it cannot be read
                  timestamp 4 of log \(Data(unknown.identifier).base64EncodedString()), \(date): does not count: the log \
                list does not have its log
                  presented chain:
                """))
        #expect(failure.remedy.contains("embeds timestamps"))
        #expect(try scene.outcome(scene.leaf([])).failure?.found == "a certificate without timestamps")
    }

    @Test("A leaf whose list of timestamps is no list is refused")
    func malformed() throws {
        for value: [UInt8] in [[], [4, 3, 0, 2, 0], TestDER.octetString([0, 0]) + [0]] {
            let leaf = try scene.leaf([]) {
                $0.extensions = [TestExtension(.signedCertificateTimestamps, value: value)]
            }
            #expect(try scene.code(leaf) == .malformedExtension)
        }
        let empty = try scene.leaf([]) {
            $0.extensions = [TestExtension(.signedCertificateTimestamps, value: TestDER.octetString([0, 0]))]
        }
        #expect(try scene.code(empty) == .notTransparent)
    }

    @Test("Each timestamp that counts costs one signature, those beyond none, and one of a known log's none twice")
    func signatures() throws {
        let path = 1
        func signatures(_ logs: [Int]) throws -> Int {
            try scene.outcome(scene.leaf(of: logs)).effort.signatures - path
        }
        #expect(try signatures([0, 2]) == 2)
        #expect(try signatures([0, 2, 1]) == 2)
        #expect(try signatures([0, 0, 0, 1, 2]) == 3)
        #expect(try signatures([]) == 0)
        let unknown = try TestTransparencyLog()
        let stamps = (0..<30).map { _ in TestTimestamp(of: unknown) }
        #expect(try scene.outcome(scene.leaf(stamps)).effort.signatures == path)
    }

    @Test("The signatures of timestamps are within the budget of the validation")
    func budget() throws {
        var forged = TestTimestamp(of: scene.logs[0])
        forged.signer = try TestKey()
        var scene = scene
        scene.limits.signatures = 10
        let stamps = Array(repeating: forged, count: 40)
        let outcome = try scene.outcome(scene.leaf(stamps + [TestTimestamp(of: scene.logs[0])]))
        #expect(outcome.failure?.code == .budgetExceeded && outcome.effort.signatures == 10)
        scene.limits.signatures = 3
        #expect(try scene.code(scene.leaf(of: [0, 2])) == nil)
        scene.limits.signatures = 2
        #expect(try scene.code(scene.leaf(of: [0, 2])) == .budgetExceeded)
    }

    @Test("Nothing is asked below exempt anchors, of clients, of other purposes, and of a leaf that is an anchor")
    func exemptions() throws {
        let bare = try scene.leaf([])
        var company = scene
        company.exempt = [scene.root.root]
        #expect(try company.code(bare) == nil)
        company.exempt = [try Judge.root().root]
        #expect(try company.code(bare) == .notTransparent)
        let client = try scene.root.leaf(names: [.dns(Judge.host)], purposes: [.clientAuthentication])
        #expect(try scene.outcome(client, for: .client).path != nil)
        #expect(try scene.outcome(bare, for: .extendedKeyUsage("1.3.6.1.5.5.7.3.1")).path != nil)
        #expect(try scene.outcome(bare, for: .server(identity: nil)).failure?.code == .notTransparent)
        let own = PathValidator(anchors: try TrustAnchors(der: [bare.der]), transparency: try scene.transparency)
        let chain = PresentedChain([bare.der])
        #expect(own.validate(chain, for: .server(identity: host), at: Judge.now) { _ in true }.path != nil)
    }

    @Test("A path to another anchor is looked for where the first asks for timestamps that are not there")
    func otherAnchor() throws {
        // One authority, below a public root and below a company's own.
        let own = try Judge.root("Own Root")
        let issuing = try scene.root.intermediate()
        let cross = try own.crossSign(issuing)
        let leaf = try issuing.leaf(names: [.dns(Judge.host)])
        let anchors = try TrustAnchors(der: [scene.root.root, own.root])
        func path(_ exempt: [[UInt8]]) throws -> ValidatedPath? {
            let validator = PathValidator(
                anchors: anchors,
                transparency: .required(try scene.list, exempting: try TrustAnchors(der: exempt)))
            let chain = PresentedChain(leaf.chain + [cross.certificate.der])
            return validator.validate(chain, for: .server(identity: host), at: Judge.now) { _ in true }.path
        }
        #expect(try path([own.root])?.anchor?.der == own.root)
        #expect(try path([]) == nil)
    }

    @Test("Past its age a list is not enforced, and every decision says so")
    func outdated() throws {
        var scene = scene
        let trust = ServerTrust(
            chain: PresentedChain(try scene.leaf([]).chain), purpose: .server(identity: host),
            validator: try scene.validator)
        let policy = StandardPolicy(host: HostPattern(host))
        let limit = scene.issuedAt.addingTimeInterval(70 * 86_400)
        let inTime = policy.evaluate(trust, at: limit)
        #expect(inTime.failure?.code == .notTransparent && inTime.notices.isEmpty)
        let late = policy.evaluate(trust, at: limit.addingTimeInterval(1))
        #expect(late.isTrusted && late.notices.map(\.code) == [.transparencyNotEnforced])
        #expect(late.notices.first?.expected == "a log list at most 70 days old")
        let pinned = try PinnedPolicy(
            host: HostPattern(host), pins: PinSet(pins: [X509Certificate(der: scene.root.root).publicKeyPin]))
        let late2 = pinned.evaluate(trust, at: limit.addingTimeInterval(1))
        #expect(late2.isTrusted && late2.notices.map(\.code) == [.transparencyNotEnforced])
        // Timestamps that are not required are not missing.
        scene.exempt = [scene.root.root]
        #expect(try scene.outcome(scene.leaf([]), at: limit.addingTimeInterval(1)).notices.isEmpty)
    }

    @Test("A remembered path is one of the same list and settings, says that the list is old, and costs no signature")
    func cache() throws {
        var scene = scene
        let cache = VerifiedPathCache()
        scene.cache = cache
        let leaf = try scene.leaf(of: [0, 2])
        #expect(try scene.code(leaf) == nil)
        let again = try scene.outcome(leaf)
        #expect(again.effort.usedCachedPath && again.effort.signatures == 0)
        // Not for the time before the timestamps were there.
        #expect(try scene.outcome(leaf, at: Judge.now.addingTimeInterval(-1)).effort.usedCachedPath == false)
        scene.entries[2].entry.state = "rejected"
        #expect(try scene.code(leaf) == .notTransparent)
        scene.entries[2].entry.state = "usable"
        scene.requiresUntiledLog = true
        #expect(try scene.outcome(leaf).effort.usedCachedPath == false)
        let late = scene.issuedAt.addingTimeInterval(70 * 86_400 + 1)
        #expect(try scene.outcome(leaf, at: late).notices.map(\.code) == [.transparencyNotEnforced])
        let remembered = try scene.outcome(leaf, at: late)
        #expect(remembered.effort.usedCachedPath && remembered.notices.count == 1)
    }

    @Test("The trace shows the rule for the leaf, kept or broken, where it is asked for")
    func trace() throws {
        func rule(_ leaf: TestCertificate) throws -> [TrustFailure.Code?] {
            try scene.validator.outcomes(
                of: PresentedChain(leaf.chain), for: .server(identity: host), at: Judge.now
            ).filter { $0.rule == "transparency" }.map { $0.failure?.code }
        }
        #expect(try rule(scene.leaf(of: [0, 2])) == [nil])
        #expect(try rule(scene.leaf(of: [0])) == [.notTransparent])
        let plain = PathValidator(anchors: try TrustAnchors(der: [scene.root.root]))
        let outcomes = plain.outcomes(
            of: PresentedChain(try scene.leaf([]).chain), for: .server(identity: host), at: Judge.now)
        #expect(!outcomes.contains { $0.rule == "transparency" })
    }

    @Test("A revoked certificate is revoked, whatever its timestamps")
    func revoked() throws {
        let leaf = try scene.leaf([])
        let list = try scene.root.revocationList { $0.serialNumbers = [(try? RevocationScene.serial(leaf)) ?? []] }
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [scene.root.root]),
            revocation: .crls([try CertificateRevocationList(der: list)]), transparency: try scene.transparency)
        let outcome = validator.validate(PresentedChain(leaf.chain), for: .server(identity: host), at: Judge.now) { _ in
            true
        }
        #expect(outcome.failure?.code == .revoked)
    }

    @Test("Where pins alone decide no timestamps are asked for")
    func pinsOnly() throws {
        let leaf = try scene.leaf([])
        let trust = ServerTrust(
            chain: PresentedChain(leaf.chain), purpose: .server(identity: host), validator: try scene.validator)
        for certificate in [leaf.der, scene.root.root] {
            let policy = try PinnedPolicy(
                host: HostPattern(host), pins: PinSet(pins: [X509Certificate(der: certificate).publicKeyPin]),
                certificatePinOnly: true)
            let chain = ServerTrust(
                chain: PresentedChain(leaf.chain + [scene.root.root]), purpose: .server(identity: host),
                validator: trust.validator)
            #expect(policy.evaluate(chain, at: Judge.now).isTrusted)
        }
    }
}
