import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerWeb

/// Damaged columns of the database and bodies of calls: each is read as something that it could say, or
/// refused. Contents, approvals, entries of the audit and keys have campaigns of their own.
@Suite("Columns and bodies, damaged")
struct ColumnMutationTests {
    private static func chain() throws -> [[UInt8]] {
        let root = try TestAuthority.root()
        return try root.leaf(names: [.dns(World.host)]).chain + [root.root]
    }

    @Test("A damaged chain has certificates whose bytes are all of its own, or is none")
    func chains() throws {
        let bytes = Array(try Self.chain().joined())
        let read = campaign(0xC4A1, [bytes], count: mutants(inPartsOf: 10)) { mutant in
            let chain = try CertificateChain(bytes: mutant)
            #expect(chain.bytes == mutant && (1...16).contains(chain.certificates.count))
        }
        #expect(read < mutants(inPartsOf: 10))
    }

    @Test("Damaged settings of an app have their one spelling, or are none")
    func settings() throws {
        let settings = try AppSettings(
            anchors: [try TestAuthority.root().root],
            builds: [AppSettings.Build(name: "7.4.1", pinFile: nil), AppSettings.Build(name: "7.5", pinFile: nil)])
        let read = campaign(0x5E77, [settings.bytes], count: mutants(inPartsOf: 4)) { mutant in
            let damaged = try AppSettings(mutant)
            #expect(damaged.bytes == mutant)
        }
        #expect(read > 0)
    }

    @Test("A damaged switch of reports has its one spelling, or is none; a damaged sample has a key, or none")
    func reports() throws {
        let read = campaign(0x5E78, [ReportSettings(isEnabled: true).bytes]) { mutant in
            let damaged = try ReportSettings(mutant)
            #expect(damaged.bytes == mutant)
        }
        #expect(read > 0)
        let body = ReportDesk.pinFailure(try Self.chain(), version: "7")
        let report = try #require(try ReportReader.read(Array(body.utf8)).first)
        let app = try AppName("bank")
        let sample = try #require(ReportSample(report, of: app, .everybody, on: "a.b:443", at: Story.now))
        #expect(sample.key == report.chain?.leaf.map { Digest(of: $0.subjectPublicKeyInfo) })
        let keys = campaign(0x5A3F, [sample.bytes], count: mutants(inPartsOf: 10)) { mutant in
            let damaged = ReportSample(
                app: app, audience: .everybody, host: "a.b:443", code: .pins, certificate: sample.certificate,
                received: Story.now, bytes: mutant)
            _ = damaged.key
            _ = try AdministrationView.sample(damaged)
        }
        #expect(keys < mutants(inPartsOf: 10))
    }

    @Test("A damaged draft of a repository has its one spelling, or is none")
    func drafts() throws {
        var draft = RepositoryDraft.empty
        draft.root = Array(#"{"signatures":[],"signed":{"_type":"root","version":1}}"#.utf8)
        draft.pins = Array(#"{"schema":1}"#.utf8)
        let other = draft
        let read = campaign(0xD4AF, [draft.bytes]) { mutant in
            let damaged = try RepositoryDraft(mutant)
            #expect(damaged.bytes == mutant)
            // The holders' files are compared with the present ones.
            #expect(damaged.merging(other).pins == damaged.pins)
        }
        #expect(read > 0)
    }

    @Test("A damaged program or place has its one spelling, or is none")
    func programs() throws {
        let program = try ProgramCommand(["/usr/local/bin/sign-pins", "--pin", "é\n\"1234"], limit: 60)
        let read = campaign(0x9406, [program.bytes]) { mutant in
            let damaged = try ProgramCommand(mutant)
            #expect(damaged.bytes == mutant && damaged.path.utf8.first == UInt8(ascii: "/"))
        }
        #expect(read > 0)
        let place = try Place(
            name: "bucket", url: "https://pins.example.com/a", program: program, onlyPublisher: "web1")
        let places = campaign(0x91AC, [place.bytes]) { mutant in
            let damaged = try Place(mutant)
            #expect(damaged.bytes == mutant && ["http", "https"].contains(damaged.url.scheme))
        }
        #expect(places > 0)
        let address = try FolderAddress("https://pins.example.com/a", answers: "https://app.example.com")
        let addresses = campaign(0xF01D, [address.bytes]) { mutant in
            let damaged = try FolderAddress(mutant)
            #expect(damaged.bytes == mutant)
            for url in [damaged.url, damaged.answers].compactMap(\.self) {
                #expect(["http", "https"].contains(url.scheme) && url.host?.isEmpty == false)
            }
        }
        #expect(addresses > 0)
    }

    @Test("A damaged outlook is read row by row, or is none")
    func outlooks() {
        let row = #"{"client":"staticList","dialed":"api.example.com:443","holders":"current","verdict":"out"}"#
        let read = campaign(0x0071, [Array("{\"rows\":[\(row),\(row)]}".utf8)]) { mutant in
            let severity = try OutlookSeverity(json: mutant)
            #expect(severity.worse(than: severity) == [])
        }
        #expect(read > 0)
    }

    @Test("A damaged proposal, approval or announcement is one, or is refused")
    func bodies() throws {
        func bytes(_ members: [String: CanonicalJSON]) -> [UInt8] { CanonicalJSON.object(members).bytes }
        let story = try Story()
        let approval = try Approver.alice.says(.approve, story.subject)
        let proposal = bytes([
            "app": .text("bank"), "reason": .text("a test"), "proposer": .text("nobody"), "emergency": .boolean(true),
            "force": .array([.text("lint")]), "includeSeen": .boolean(false), "lifetimeDays": .integer(90),
            "remove": .array([.text("\(Digest(of: [1]))")]),
            "formats": .array([.object(["kind": .text("list"), "refresh": .integer(3_600)])]),
        ])
        let proposals = campaign(0x9409, [proposal]) { mutant in
            var fields = try JSONFields(try JSONReader.read(mutant, "body", limit: 1 << 18), "")
            let body = try ProposalBody(&fields)
            #expect(body.forced.contains(.canary) == body.reason.utf8.starts(with: "emergency: ".utf8))
            #expect((86_400...366 * 86_400).contains(body.wishes.lifetime))
        }
        #expect(proposals > 0)
        let handed = bytes([
            "text": .text(approval.text), "identity": .text("\(approval.signature.identity)"),
            "signature": .text(Base64.encode(approval.signature.signature)),
        ])
        let approvals = campaign(0xA449, [handed]) { mutant in
            var fields = try JSONFields(try JSONReader.read(mutant, "body", limit: 1 << 18), "")
            let body = try ApprovalBody(&fields)
            #expect(body.text.bytes == body.signed.text)
        }
        #expect(approvals > 0)
        let pem = try Self.chain().map { TestCertificate.pem($0) }
        let chain = bytes(["chain": .text(pem.joined()), "begins": .text("2026-12-24T12:00:00Z")])
        // Whether it is a key is asked where it is written down.
        let key = bytes(["request": .text(pem[0].replacing("CERTIFICATE", with: "CERTIFICATE REQUEST"))])
        let announced = campaign(0xA227, [chain, key], count: mutants(inPartsOf: 10)) { mutant in
            var fields = try JSONFields(try JSONReader.read(mutant, "body", limit: 1 << 18), "")
            guard case .chain(let chain, _) = try Announcement(&fields) else { return }
            #expect((1...16).contains(chain.certificates.count))
        }
        #expect(announced > 0)
    }

    @Test(
        "A damaged wish for a key or a host, a damaged PEM text and a damaged secret of a webhook are one, or refused")
    func wishes() throws {
        func fields(_ mutant: [UInt8]) throws -> JSONFields {
            try JSONFields(try JSONReader.read(mutant, "body", limit: 1 << 18), "")
        }
        let key = CanonicalJSON.object(["replaces": .text("\(Digest(of: [1]))"), "customer": .text("acme")]).bytes
        let keys = campaign(0x4E71, [key]) { mutant in
            var fields = try fields(mutant)
            let customer = try KeyBody(&fields).customer
            #expect(customer.map { (1...64).contains($0.utf8.count) } ?? true)
        }
        #expect(keys > 0)
        let host = CanonicalJSON.object([
            "dial": .text("192.0.2.1"), "renewal": .text("issuer"), "oneKeyKind": .boolean(true),
        ]).bytes
        let hosts = campaign(0x4057, [host]) { mutant in
            var fields = try fields(mutant)
            let host = try HostBody.host(World.host, 443, &fields)
            #expect(host.name == World.host && host.port == 443)
        }
        #expect(hosts > 0)
        let blocks: [[UInt8]] = [Array(0..<100), [1, 2, 3]]
        let pem = Array(blocks.map { PEMText.block("CERTIFICATE", of: $0) }.joined().utf8)
        var texts = 0
        _ = campaign(0x9E37, [pem]) { mutant in
            guard let read = PEMText.blocks("CERTIFICATE", of: mutant) else { return }
            #expect(read.allSatisfy { !$0.isEmpty } && read.joined().count <= mutant.count * 3 / 4)
            texts += 1
        }
        #expect(texts > 0 && texts < mutants)
        let secret = Array("whsec_\(Base64.encode([UInt8](repeating: 0x41, count: 32)))\n".utf8)
        let secrets = campaign(0x5EC2, [secret]) { mutant in
            _ = try WebhookSecret(mutant)
            #expect(mutant.starts(with: "whsec_".utf8) && (38...95).contains(mutant.count))
        }
        #expect(secrets > 0 && secrets < mutants)
    }

    @Test("Damaged drafts that holders hand in, and damaged files of an operator, are read, or refused")
    func files() throws {
        let file = CanonicalJSON.text(Base64.encode(Array(#"{"signatures":[],"signed":{}}"#.utf8)))
        let handed = CanonicalJSON.object(["root": file, "targets": file, "pins": file]).bytes
        let drafts = campaign(0xD4A7, [handed]) { mutant in
            var fields = try JSONFields(try JSONReader.read(mutant, "body", limit: 1 << 18), "")
            let draft = try DraftsBody(&fields).draft
            #expect(draft != .empty && (draft.targets != nil || draft.pins == nil))
        }
        #expect(drafts > 0)
        let needed = Array(#"{"unlistedNeedPins": true, "domains": [{"name": "a.b", "needsPins": false}]}"#.utf8)
        let domains = campaign(0xD03A, [needed]) { mutant in
            let needed = try ContentDomains(mutant, named: "domains.json")
            #expect(needed.domains.count <= 1)
        }
        #expect(domains > 0)
    }
}
