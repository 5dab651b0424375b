import Crypto
import Foundation
import HoldfastProbe
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastServer
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerWeb

/// Short texts that people, browsers, proxies and rows of the database say, damaged.
@Suite("Short texts, damaged")
struct TextMutationTests {
    @Test("Damaged addresses of pages and calls lead to what they say, or nowhere")
    func routes() {
        let change = Story.id(1)
        let digest = Digest(of: [1])
        let seeds = [
            "/apps/bank/hosts/\(World.host)?port=443", "/apps/bank/changes/\(change)", "/invitation/\(digest)/begin",
            "/changes/bank/\(change)/approve/finish", "/audit?event=seen&app=bank&before=7", "/approvers/sign/begin",
            "/v1/apps/bank/hosts/\(World.host)/next/\(digest)/ready?port=443",
            "/v1/apps/bank/keys/trust-server/replace",
        ].map { Array($0.utf8) }
        var found = 0
        _ = campaign(0x4075, seeds) { mutant in
            guard let target = try? RequestTarget(mutant) else { return }
            if let route = PageRoute(path: target.path) {
                found += 1
                if let query = try? PageQuery(target, route) {
                    #expect(target.fields.isEmpty || !route.queryFields.isEmpty)
                    _ = try? query.number("port", in: 1...65_535)
                }
            }
            if case .verdict(_, let id, _, _)? = SignInRoute(path: target.path) {
                #expect(target.path.starts(with: "/changes/".utf8) && "\(id)".utf8.count == 32)
                found += 1
            }
            for route in AdministrationRoute.allCases {
                guard let parameters = route.parameters(of: target.path) else { continue }
                #expect(parameters.values.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: "/")) })
                found += 1
            }
        }
        #expect(found > 0)
    }

    @Test("A damaged cookie, token, scope or id is one of its form, or none")
    func tokens() {
        var generator = SeededGenerator(seed: 0xC00C)
        let token = AccessToken(using: &generator)
        let header = Array("a=b; \(PageSessions.cookie)=\(token.secretText); c=\"d\"".utf8)
        var (same, none) = (0, 0)
        _ = campaign(0xC00D, [header]) { mutant in
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            head.headers.add(name: "Cookie", value: String(decoding: mutant, as: UTF8.self))
            let request = ListenerRequest(head: head, body: ByteBuffer(), source: .unknown)
            guard let read = PageSessions.token(PageSessions.cookie, of: request) else {
                none += 1
                return
            }
            #expect(String(decoding: mutant, as: UTF8.self).contains(read.secretText))
            same += read.digest == token.digest ? 1 : 0
        }
        #expect(same > 0 && none > 0)
        var scopes = 0
        _ = campaign(0x5C09, [Array("gate \(World.host):443 www.example.com:8443".utf8), Array("propose".utf8)]) {
            guard let scope = TokenGrant.Scope($0) else { return }
            scopes += 1
            let grant = try TokenGrant(name: "ci", app: AppName("bank"), scope: scope, end: Story.now)
            #expect(Array(grant.scopeText.utf8) == $0)
        }
        #expect(scopes > 0)
        let proxies = try? TrustedProxies([AddressBlock("10.0.0.0/8")])
        var names = 0
        _ = campaign(0x1D5, [Array("edge-7_b.3f9a".utf8)]) { mutant in
            let headers = HTTPHeaders([(RequestID.header, String(decoding: mutant, as: UTF8.self))])
            let peer = try? IPAddress("10.0.0.1")
            guard let id = RequestID(headers, from: peer, trusting: proxies ?? .none) else { return }
            names += 1
            #expect((1...64).contains(id.text.utf8.count) && id.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
        #expect(names > 0)
    }

    @Test("A damaged address of a webhook, an origin, a recipient, a block or a time is one, or is refused")
    func settings() throws {
        let webhook = Array("https://hooks.example.com:8443/pins?key=abc%20d".utf8)
        let webhooks = campaign(0x0EB4, [webhook]) { mutant in
            let address = try WebhookAddress(String(decoding: mutant, as: UTF8.self))
            #expect(address.target.utf8.first == UInt8(ascii: "/") && !address.target.utf8.contains { $0 <= 0x20 })
        }
        #expect(webhooks > 0 && webhooks < mutants)
        var origins = 0
        _ = campaign(0x0419, [Array("https://pins.example.com:8443".utf8)]) { mutant in
            guard let party = RelyingParty(bytes: mutant) else { return }
            origins += 1
            #expect(Array(party.origin.utf8) == mutant && party.origin.contains(party.id))
        }
        #expect(origins > 0 && origins < mutants)
        let printed = Array(Base64.encode(try BackupExample.key.recipient.key.x963Representation).utf8)
        let recipients = campaign(0x4EC1, [printed]) { mutant in
            let recipient = try BackupRecipient(printed: mutant)
            #expect(Base64.encode(recipient.key.x963Representation).utf8.elementsEqual(mutant))
        }
        #expect(recipients < mutants)
        var blocks = 0
        _ = campaign(0xB10C, ["10.0.0.0/8", "2001:db8::/32", "::ffff:192.0.2.0/120"].map { Array($0.utf8) }) {
            guard let block = try? AddressBlock(String(decoding: $0, as: UTF8.self)) else { return }
            blocks += 1
            #expect((try? AddressBlock("\(block.first)/\(block.prefixLength)")) == block)
        }
        #expect(blocks > 0)
        var times = 0
        _ = campaign(0x71E, [Array("2026-12-24T12:00:00Z".utf8)]) { mutant in
            guard let time = UTCText.decode(mutant) else { return }
            times += 1
            #expect(UTCText.encode(time).map { Array($0.utf8) } == mutant)
        }
        #expect(times > 0)
    }

    @Test("A damaged public key of a person is one in its one encoding, or none")
    func approverKeys() throws {
        let keys = try [Approver.alice, .bob, .carol].map { try $0.key.subjectPublicKeyInfo }
        let read = campaign(0xA9E1, keys) { mutant in
            let key = try ApproverKey(der: mutant)
            #expect(key.subjectPublicKeyInfo == mutant && key.identity == Digest(of: mutant))
        }
        #expect(read < mutants)
        let printed = keys.map { Array(Base64.encode(Array($0.suffix($0.count == 44 ? 32 : 65))).utf8) }
        _ = campaign(0xA9E2, printed) { mutant in
            let key = try ApproverKey(printed: String(decoding: mutant, as: UTF8.self))
            #expect(try ApproverKey(der: key.subjectPublicKeyInfo) == key)
        }
    }

    @Test("What was told already is known from a damaged file as far as its lines are ids, and no further")
    func notices() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "notices-webhook")
            var known = KnownNotices(nil)
            known.add((0..<4).map { Story.id($0) })
            let bytes = known.bytes
            _ = campaign(0x4071, [bytes], count: mutants(inPartsOf: 20)) { mutant in
                try Data(mutant).write(to: file)
                let read = KnownNotices(file)
                #expect(!read.isNew && read.ids.count <= 5)
                #expect(read.ids.allSatisfy { String(decoding: mutant, as: UTF8.self).contains("\($0)") })
            }
        }
    }

    @Test("A damaged outlook of the database is shown row by row, or not at all")
    func outlooks() {
        let row =
            #"{"cause":{"code":"pinMismatch","words":"no pin matches"},"client":"staticList","#
            + #""dialed":"api.example.com:443","holders":"current","until":"2026-12-24T12:00:00Z","verdict":"out"}"#
        let text = "{\"premises\":[\"a\"],\"rows\":[\(row),\(row)],\"verdict\":\"out\"}"
        let read = campaign(0x0072, [Array(text.utf8)]) { mutant in
            let outlook = try StoredOutlook(mutant)
            #expect(outlook.rows.count <= 2 && outlook.premises.count <= 1)
        }
        #expect(read > 0)
    }
}
