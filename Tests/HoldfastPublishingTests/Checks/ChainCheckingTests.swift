import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@Suite("What a check finds out about a chain", .timeLimit(.minutes(15)))
struct ChainCheckingTests {
    @Test("A trusted chain has the rules of each certificate, all kept, and the pins of its path to paste")
    func trusted() async throws {
        let scene = try CheckScene()
        let report = try await scene.report()
        #expect(report.outcome == .trusted && report.failure == nil && report.error == nil)
        #expect(report.broken.isEmpty && Set((report.rules ?? []).map(\.subject)).count == 3)
        #expect(report.chain?.map(\.position) == [0, 1] && report.anchor?.subject == "CN=Test Root")
        #expect(try report.suggestedPins?.map(\.pin) == scene.keyPins().map(\.description))
        #expect(report.suggestedPins?.allSatisfy(\.inValidPath) == true)
    }

    @Test("Every broken rule is named, not only the first")
    func severalBroken() async throws {
        let scene = try CheckScene { certificate in
            certificate.notAfter = .hours(-0.5)
            certificate.extendedKeyUsage = [.clientAuthentication]
        }
        let report = try await scene.report(host: "other.example")
        #expect(report.outcome == .untrusted && report.chain?.first?.daysLeft == -1)
        #expect(Set(report.broken) == ["validity", "extendedKeyUsage", "server identity"])
    }

    @Test("A self-signed certificate is not told to send intermediates, and no pin of it is in a valid path")
    func selfSigned() async throws {
        let leaf = try TestAuthority.selfSigned(names: [.dns(CheckScene.name)])
        let report = try await CheckScene().report(of: [leaf.der])
        #expect(report.outcome == .untrusted && report.failure?.code == "unknownIssuer")
        #expect(report.failure?.text.contains("intermediates") == false)
        #expect(report.failure?.text.contains("add it to the anchors or pin it") == true)
        #expect(report.suggestedPins?.contains { $0.inValidPath } == false)
    }

    @Test("An issuer that is not sent is missing, a wrong order and a root are remarked on")
    func order() async throws {
        let scene = try CheckScene()
        let alone = try await scene.report(of: [scene.leaf.der])
        #expect(alone.failure?.code == "unknownIssuer" && alone.broken == ["trust anchor"])
        let mixed = try await scene.report(
            of: [scene.leaf.der, scene.root.certificate.der, scene.issuing.certificate.der])
        #expect(mixed.outcome == .trusted)
        #expect(mixed.remarks?.first?.contains("certificate 1 did not issue certificate 0") == true)
        let whole = try await scene.report(of: scene.leaf.chain + [scene.root.certificate.der])
        #expect(whole.remarks?.count == 1 && whole.remarks?[0].contains("is a root") == true)
        #expect(try await scene.report().remarks == nil)
    }

    // MARK: Pins

    @Test("A pin that matches is named; of one that does not, those that would are offered")
    func pins() async throws {
        let scene = try CheckScene()
        let (pins, certificate) = (try scene.keyPins(), Pin.certificate(scene.leaf.der))
        let matched = try await scene.report(pins: [pins[1], certificate])
        #expect(matched.outcome == .trusted && matched.suggestedPins == nil)
        #expect(matched.configuredPins == [pins[1], certificate].map(\.description))
        #expect(Set(matched.matchedPins ?? []) == Set([pins[1], certificate].map(\.description)))
        let failing = try await scene.report(pins: [CheckScene().keyPins()[0]])
        #expect(failing.outcome == .untrusted && failing.failure?.code == "pinMismatch" && failing.broken.isEmpty)
        #expect(failing.suggestedPins?.map(\.pin) == pins.map(\.description))
    }

    @Test("A pinned certificate that is only appended does not help, and is shown as outside of the valid path")
    func appended() async throws {
        let scene = try CheckScene()
        let impostor = try scene.issuing.impersonate(scene.leaf)
        let report = try await scene.report(
            of: impostor.chain + [scene.leaf.der], pins: [try scene.keyPins()[0]])
        #expect(report.failure?.code == "pinMismatch")
        #expect(report.chain?.map(\.inValidPath) == [true, true, false])
    }

    @Test("What ends within the watched time is named: of the path, and what has a configured pin")
    func watched() async throws {
        let scene = try CheckScene { $0.notAfter = .days(10) }
        let watch = ExpiryWatch(span: .seconds(11 * 86_400))
        let report = try await scene.report(scene.checking(watch: watch), pins: [Pin.certificate(scene.leaf.der)])
        #expect(report.expiresSoon && report.expiring?.map(\.position) == [0])
        #expect(report.expiring?.map(\.hasConfiguredPin) == [true])
        let later = ExpiryWatch(span: .seconds(9 * 86_400))
        #expect(try await scene.report(scene.checking(watch: later)).expiresSoon == false)
    }

    // MARK: Status

    private static func lookup(
        _ lists: [Data] = [], fetching provider: (any RemoteDataProvider)? = nil
    ) throws -> RevocationLookup {
        var all = RevocationLists()
        for list in lists { try all.add(list, named: "a.crl") }
        return try RevocationLookup(lists: all.lists, within: .seconds(60), fetchingWith: provider)
    }

    @Test("A revoked chain breaks the rule of revocation; a list of another certificate, in PEM, keeps it")
    func revoked() async throws {
        let scene = try CheckScene()
        let serial = Array(try X509Certificate(der: scene.leaf.der).serialNumber)
        let list = Data(try scene.issuing.revocationList { $0.serialNumbers = [serial] })
        let report = try await scene.report(scene.checking(lookup: Self.lookup([list])))
        #expect(report.outcome == .untrusted && report.failure?.code == "revoked" && report.broken == ["revocation"])
        let other = Data(try scene.issuing.revocationList { $0.serialNumbers = [[1, 2, 3]] })
        let base64 = other.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = Data("-----BEGIN X509 CRL-----\n\(base64)\n-----END X509 CRL-----\n".utf8)
        let kept = try await scene.report(scene.checking(lookup: Self.lookup([pem])))
        #expect(kept.outcome == .trusted)
        #expect(kept.rules?.contains { $0.rule == "revocation" && $0.kept } == true)
        for junk in [Data("nothing".utf8), Data(scene.root.certificate.pem.utf8)] {
            #expect(throws: PublishingError.self) { try Self.lookup([junk]) }
        }
    }

    /// Lists by the URLs under which certificates name them.
    private final class Lists: RemoteDataProvider {
        let lists = Lock<[String: [UInt8]]>([:])

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            guard let list = lists.withLock({ $0[request.url.lastPathComponent] }) else {
                throw RemoteDataError(status: 404)
            }
            return RemoteDataResponse(.body(Data(list)))
        }
    }

    @Test("Lists that certificates name are fetched: none is unknown, a revoking one refuses, one in a file counts too")
    func fetched() async throws {
        func point(_ path: String) -> TestExtension {
            let name = TestDER.context(6, primitive: Array("http://crl.example/\(path)".utf8))
            let full = TestDER.context(0, constructed: TestDER.context(0, constructed: name))
            return TestExtension([2, 5, 29, 31], value: TestDER.sequence([TestDER.sequence([full])]))
        }
        let root = try TestAuthority.root()
        let issuing = try root.intermediate { $0.extensions = [point("root.crl")] }
        let leaf = try issuing.leaf(names: [.dns(CheckScene.name)]) { $0.extensions = [point("issuing.crl")] }
        let scene = CheckScene(root: root, issuing: issuing, leaf: leaf)
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let (ofRoot, clean, revoking) = (
            try root.revocationList(), try issuing.revocationList(),
            try issuing.revocationList { $0.serialNumbers = [serial] }
        )
        let lists = Lists()
        func report(_ given: Data...) async throws -> CheckReport {
            try await scene.report(scene.checking(lookup: Self.lookup(given, fetching: lists)))
        }
        let unknown = try await report()
        #expect(unknown.failure?.code == "revocationUnknown")
        #expect(unknown.revocationLists?.map(\.isUsable) == [false, false])
        #expect(unknown.revocationLists?.allSatisfy { $0.error?.contains("404") == true } == true)
        lists.lists.withLock { $0 = ["issuing.crl": clean, "root.crl": ofRoot] }
        let good = try await report()
        #expect(good.outcome == .trusted && good.revocationLists?.map(\.revokedCertificates) == [0, 0])
        lists.lists.withLock { $0["issuing.crl"] = revoking }
        let refused = try await report()
        #expect(refused.failure?.code == "revoked" && refused.revocationLists?.map(\.revokedCertificates) == [1, 0])
        lists.lists.withLock { $0["issuing.crl"] = nil }
        #expect(try await report(Data(clean)).outcome == .trusted)
    }

    @Test("Of several required certificate policies one is enough, and none is not")
    func policies() async throws {
        let root = try TestAuthority.root()
        let issuing = try root.intermediate { $0.certificatePolicies = [[1, 2, 3]] }
        let leaf = try issuing.leaf(names: [.dns(CheckScene.name)]) { $0.certificatePolicies = [[1, 2, 3]] }
        let scene = CheckScene(root: root, issuing: issuing, leaf: leaf)
        for (policies, outcome) in [
            (["1.2.3"], CheckReport.Outcome.trusted), (["1.2.4", "1.2.3"], .trusted), (["1.2.4"], .untrusted),
        ] {
            #expect(try await scene.report(scene.checking(policies: policies)).outcome == outcome, "\(policies)")
        }
    }

    // MARK: Transparency

    private static func list(_ logs: [TestTransparencyLog], daysAgo days: Double = 1) throws -> Data {
        var list = try TestLogList(issuedAt: SystemWallClock().now.addingTimeInterval(-days * 86_400))
        for log in logs { list.operators["Operator of \(log.name)"] = [TestLogList.Entry(log)] }
        return list.json
    }

    @Test(
        "A certificate that the logs have seen keeps the rule; each timestamp that does not count is named with the reason"
    )
    func transparency() async throws {
        let logs = try ["First Log", "Second Log"].map { try TestTransparencyLog(name: $0) }
        let stranger = try TestTransparencyLog(name: "Stranger")
        let list = try Self.list(logs)
        let good = try CheckScene { $0.timestamps = logs.map { TestTimestamp(of: $0) } }
        let rules = try await good.report(good.checking(logs: list)).rules?.filter { $0.rule == "transparency" }
        #expect(rules?.map(\.kept) == [true] && rules?.map(\.subject) == ["CN=api.example.com"])
        #expect(try await good.report().rules?.contains { $0.rule == "transparency" } == false)
        let few = try CheckScene { $0.timestamps = [logs[0], stranger].map { TestTimestamp(of: $0) } }
        let report = try await few.report(few.checking(logs: list))
        #expect(report.failure?.code == "notTransparent" && report.broken == ["transparency"])
        let text = report.failure?.text ?? ""
        #expect(text.contains("timestamp 1 of \"First Log\" (operator \"Operator of First Log\")"), "\(text)")
        #expect(text.contains("does not count: the log list does not have its log"), "\(text)")
    }

    @Test("A log list past its age is not enforced, and a remark says so; one that cannot be read is an error")
    func oldLogList() async throws {
        let scene = try CheckScene()
        let logs = [try TestTransparencyLog(name: "First Log")]
        let fresh = try await scene.report(scene.checking(logs: Self.list(logs, daysAgo: 69)))
        #expect(fresh.failure?.code == "notTransparent")
        let old = try await scene.report(scene.checking(logs: Self.list(logs, daysAgo: 71)))
        #expect(old.outcome == .trusted)
        #expect(old.remarks?.contains { $0.contains("expected a log list at most 70 days old") } == true)
        #expect(throws: PublishingError.self) { try scene.checking(logs: Data("{".utf8)) }
    }
}
