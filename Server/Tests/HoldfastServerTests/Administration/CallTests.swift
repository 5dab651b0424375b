import Foundation
import Holdfast
import HoldfastProbe
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Calls of the administration", .timeLimit(.minutes(5)))
struct CallTests {
    private static let next = "/v1/apps/bank/hosts/\(World.host)/next"

    private static func announcement(_ certificate: TestCertificate, from begins: Int64) throws -> String {
        let begins = try #require(UTCText.encode(begins))
        return String(
            decoding: CanonicalJSON.object(["chain": .text(certificate.chainPEM), "begins": .text(begins)]).bytes,
            as: UTF8.self)
    }

    @Test("From an announcement to a published document, over HTTP alone")
    func wholeWay() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let apps = try await site.call("GET", "/v1/apps", token: "read")
            #expect(apps.body.contains(#""name":"bank""#) && apps.body.contains(#""generation":0"#))
            let renewed = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            let digest = Digest(of: renewed.der)
            try await site.refuses(404, .notFound, "GET", "\(Self.next)/\(digest)/ready", token: "gate")
            let body = try Self.announcement(renewed, from: world.now + World.month)
            let announced = try await site.call("PUT", Self.next, token: "propose", body: body)
            #expect(announced.status == 200 && announced.body.contains("\(digest)"), "\(announced.text)")
            let unpublished = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
            unpublished.isError(409, .notReady)
            #expect(unpublished.header("Retry-After") == "300" && unpublished.json["since"] == nil)

            let change = try await site.propose()
            let shown = try await site.call("GET", "/v1/changes/\(change)", token: "read")
            #expect(shown.json["state"] as? String == "proposed" && shown.json["needed"] as? Int == 2)
            #expect((shown.json["difference"] as? [String])?.contains { $0.contains("adds host") } == true)
            #expect((shown.json["unannounced"] as? [String])?.isEmpty == false)
            let content = try await site.call("GET", "/v1/changes/\(change)/content", token: "read").body
            let stored = try await world.catalog.change(change)
            #expect(Array(content.utf8) == stored.content.bytes)
            #expect(shown.json["contentDigest"] as? String == "\(Digest(of: content.utf8))")
            let outlook = try await site.call("GET", "/v1/changes/\(change)/outlook", token: "read").body
            #expect(shown.json["outlookDigest"] as? String == "\(Digest(of: outlook.utf8))")
            let gates = try await site.call("GET", "/v1/changes/\(change)/gates", token: "read")
            #expect(gates.json["passed"] as? Bool == true, "\(gates.text)")

            try await site.refuses(409, .notApproved, "POST", "/v1/changes/\(change)/publish")
            try await site.approve(change)
            let approved = try await site.call("GET", "/v1/changes/\(change)", token: "read")
            #expect(approved.json["state"] as? String == "approved")
            #expect((approved.json["approvals"] as? [Any])?.count == 2)
            let published = try await site.call("POST", "/v1/changes/\(change)/publish")
            #expect(published.json["outcome"] as? String == "published" && published.json["generation"] as? Int == 1)
            try await world.everybodyFollows()
            try await site.refuses(409, .outOfTurn, "POST", "/v1/changes/\(change)/publish")

            let documents = try await site.call("GET", "/v1/documents?app=bank", token: "read")
            let all = documents.json["documents"] as? [[String: Any]] ?? []
            let list = try #require(all.first { $0["path"] as? String == "lists/bank.json" })
            let bytes = try await site.call("GET", "/v1/documents/\(list["digest"] ?? "")", token: "read")
            #expect(
                Array(bytes.body.utf8) == world.publisher.live.current.document(at: "lists/bank.json".utf8)?.bytes)
            // No client has another document, so all clients can connect.
            let ready = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
            #expect(ready.status == 200 && ready.json["ready"] as? Bool == true, "\(ready.text)")
        }
    }

    @Test("A gate stays closed while somebody may hold what was published before, and says until when")
    func gate() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.publish()
            let renewed = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            let digest = Digest(of: renewed.der)
            let key = Digest(of: try renewed.subjectPublicKeyInfo)
            _ = try await site.call(
                "PUT", Self.next, body: Self.announcement(renewed, from: world.now + World.month))
            // The published content does not have it yet.
            let closed = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
            closed.isError(409, .notReady)
            #expect(closed.json["until"] == nil && closed.json["since"] as? String == UTCText.encode(world.now))

            try await world.pass(3_600)
            let begin = world.now
            try await world.publish()
            let waiting = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
            waiting.isError(409, .notReady)
            let until = try #require((waiting.json["until"] as? String).flatMap { UTCText.decode($0.utf8) })
            #expect(waiting.json["since"] as? String == UTCText.encode(begin))
            // Those who asked right before the publication go on for the staleness, of a week.
            #expect((begin + 6 * 86_400...begin + 8 * 86_400).contains(until))
            #expect(waiting.header("Retry-After") == "86400")
            for digest in [digest, key] {
                let answer = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
                #expect(answer.status == 409)
            }
            world.clock.set(Date(timeIntervalSince1970: TimeInterval(until)))
            try await world.see(world.shown)
            let open = try await site.call("GET", "\(Self.next)/\(digest)/ready", token: "gate")
            #expect(open.status == 200, "\(open.text)")
        }
    }

    @Test("What is announced is read as a whole before anything is written")
    func announcements() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let before = world.catalog.ledger.chain.head
            let chain = world.shown.chainPEM
            func body(_ members: [String: CanonicalJSON]) -> String {
                String(decoding: CanonicalJSON.object(members).bytes, as: UTF8.self)
            }
            let begins = CanonicalJSON.text("2026-12-24T12:00:00Z")
            for (members, field) in [
                (["chain": .text(chain)], "begins"), (["chain": .text(chain), "begins": .text("tomorrow")], "begins"),
                (["chain": .text("hello"), "begins": begins], "chain"),
                (["chain": .text(String(chain.dropLast(40))), "begins": begins], "chain"),
                (["chain": .text(String(repeating: chain, count: 17)), "begins": begins], "chain"),
                (["begins": begins], "chain"), ([:], "chain"),
                (["chain": .text(chain), "begins": begins, "from": begins], "from"),
                (["key": .text(chain)], "key"), (["request": .text("")], "request"),
                (["request": .text(chain)], "request"),
                (["key": .text("x"), "chain": .text(chain), "begins": begins], "begins"),
            ] as [([String: CanonicalJSON], String)] {
                let answer = try await site.call("PUT", Self.next, body: body(members))
                #expect(answer.status == 422, "\(members): \(answer.text)")
                #expect(answer.json["field"] as? String == field, "\(members): \(answer.text)")
            }
            let good = body(["chain": .text(chain), "begins": begins])
            try await site.refuses(
                404, .notFound, "PUT", "/v1/apps/bank/hosts/x.example.com/next", body: good, field: "host")
            try await site.refuses(403, .forbidden, "PUT", "/v1/apps/shop/hosts/\(World.host)/next", body: good)
            try await site.refuses(404, .notFound, "PUT", Self.next + "?port=444", body: good, field: "host")
            for query in ["?port=0", "?port=65536", "?port=+443", "?port=0443", "?port=", "?port=443&port=443", "?x=1"]
            {
                let answer = try await site.call("PUT", Self.next + query, body: good)
                #expect(answer.status == 400, "\(query): \(answer.text)")
            }
            #expect(world.catalog.ledger.chain.head == before)
            let pem = TestCertificate.pem(try world.shown.subjectPublicKeyInfo)
                .replacingOccurrences(of: "CERTIFICATE", with: "PUBLIC KEY")
            let bare = try await site.call("PUT", Self.next, body: body(["key": .text(pem)]))
            #expect(bare.status == 422 && bare.text.contains("certificate request"), "\(bare.text)")
            let request = try CertificateRequestDraft(names: [HostPattern(World.host)]).pem(signedBy: SigningKey())
            let answer = try await site.call("PUT", Self.next, body: body(["request": .text(request)]))
            #expect(answer.status == 200 && answer.body.contains(#""kind":"key""#), "\(answer.text)")
            #expect(answer.body.contains(#""announcedBy":"token administer""#), "\(answer.text)")
            let withdrawn = try await site.call("DELETE", Self.next)
            #expect(withdrawn.body == #"{"next":[]}"#)
            let audit = try await site.call("GET", "/v1/audit", token: "every").body
            #expect(audit.contains(#""actor":"token administer""#))
        }
    }

    @Test("A proposal names what is wrong with it, and a refused one leaves nothing")
    func proposals() async throws {
        try await AdministrationSite.run { site in
            let before = site.world.catalog.ledger.chain.head
            let good = AdministrationSite.proposal()
            for (old, new, status, field) in [
                (#""app": "bank", "#, "", 422, "app"), (#""bank""#, #""!""#, 422, "app"),
                (#""reason": "a test""#, #""reason": """#, 422, "reason"),
                (#""a test""#, "\"\(String(repeating: "a", count: 1_025))\"", 422, "reason"),
                (#""nobody""#, #""alice""#, 422, "proposer"),
                (#""nobody""#, "\"\(Digest.nothing)\"", 422, "proposer"),
                (#", "proposer": "nobody""#, "", 422, "proposer"), (#"true"#, #""yes""#, 422, "includeSeen"),
                (#"true"#, "null", 400, "body"), (#""list""#, #""carrier-pigeon""#, 422, "formats[0].kind"),
                ("3600", "1", 422, "formats[0].refresh"), ("3600", "3600.5", 400, "body"),
                (#""reason""#, #""app": "bank", "reason""#, 400, "body"),
                (#""reason""#, #""canary": 1, "reason""#, 422, "canary"),
                (#""reason""#, #""force": ["validation"], "reason""#, 422, "force[0]"),
                (#""reason""#, #""remove": ["AB"], "reason""#, 422, "remove[0]"),
                (#""reason""#, #""lifetimeDays": 367, "reason""#, 422, "lifetimeDays"), ("}]}", "}]", 400, "body"),
                ("}]}", "}]}]", 400, "body"),
            ] {
                let body = good.replacingOccurrences(of: old, with: new)
                #expect(body != good, "\(old)")
                let answer = try await site.call("POST", "/v1/changes", token: "propose", body: body)
                #expect(answer.status == status, "\(old) → \(new): \(answer.text)")
                #expect(answer.json["field"] as? String == field, "\(old) → \(new): \(answer.text)")
            }
            for (body, type, status) in [
                (good, "text/plain", 415), (good, "application/jsonx", 415), ("[]", "application/json", 400),
                ("", "application/json", 400), ("\u{FEFF}" + good, "application/json", 400),
            ] {
                let answer = try await site.call("POST", "/v1/changes", token: "propose", body: body, type: type)
                #expect(answer.status == status, "\(type): \(answer.text)")
            }
            #expect(site.world.catalog.ledger.chain.head == before)
            let answer = try await site.call(
                "POST", "/v1/changes", token: "propose", body: good, type: "Application/JSON; charset=utf-8")
            #expect(answer.status == 201)
            let id = try #require(answer.json["id"] as? String)
            #expect(answer.header("Location") == "/v1/changes/\(id)")
            // Identities of approvers, emergencies and gates arrive as they were sent.
            let alice = try Approver.alice.identity
            let second = try await site.call(
                "POST", "/v1/changes", token: "propose",
                body: AdministrationSite.proposal(#", "emergency": true, "force": ["lint"]"#)
                    .replacingOccurrences(of: "nobody", with: "\(alice)"))
            #expect(second.json["proposer"] as? String == "\(alice)")
            #expect(second.json["forced"] as? [String] == ["canary", "lint"])
            #expect(second.json["reason"] as? String == "emergency: a test")
        }
    }

    @Test("Approvals count by their signatures: wrong, moved and replayed ones are refused")
    func approvals() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let (first, second) = (try await site.propose(), try await site.propose())
            let good = try await world.statement(.alice, of: first)
            let target = "/v1/changes/\(first)/approvals"
            func body(_ approval: SignedApproval) -> String { AdministrationSite.body(approval) }
            let stranger = body(try await world.statement(.mallory, of: first))
            try await site.refuses(422, .invalidSignature, "POST", target, token: "read", body: stranger)
            let broken = SignedApproval(
                text: good.text,
                signature: ApproverSignature(
                    identity: good.signature.identity, signature: good.signature.signature.reversed()))
            try await site.refuses(422, .invalidSignature, "POST", target, token: "read", body: body(broken))
            let borrowed = SignedApproval(
                text: good.text,
                signature: ApproverSignature(identity: try Approver.bob.identity, signature: good.signature.signature))
            try await site.refuses(422, .invalidSignature, "POST", target, token: "read", body: body(borrowed))
            let other = body(try await world.statement(.alice, of: second))
            try await site.refuses(409, .notForThis, "POST", target, token: "read", body: other)
            let rejection = body(try await world.statement(.alice, .reject, of: first))
            try await site.refuses(409, .notForThis, "POST", target, token: "read", body: rejection)
            try await site.refuses(
                409, .notForThis, "POST", "/v1/changes/\(first)/reject", token: "read", body: body(good))
            let over = body(try await world.statement(.alice, of: first, until: world.now - 1))
            try await site.refuses(409, .notForThis, "POST", target, token: "read", body: over)
            for (text, field) in [
                (#"{"text":"x\n","identity":"\#(Digest.nothing)","signature":"AA=="}"#, "approval, header"),
                (#"{"text":"","identity":"x","signature":"AA=="}"#, "identity"),
                (#"{"text":"","identity":"\#(Digest.nothing)","signature":"AA"}"#, "signature"),
                (#"{"text":"","identity":"\#(Digest.nothing)"}"#, "signature"), ("{}", "text"),
            ] {
                let answer = try await site.call("POST", target, token: "read", body: text)
                #expect(answer.status == 422 && answer.json["field"] as? String == field, "\(answer.text)")
            }
            #expect(try await world.catalog.change(first).approvals.isEmpty)

            // The same one twice is one.
            try await site.approve(first, by: [.alice])
            try await site.approve(first, by: [.alice])
            #expect(try await world.catalog.change(first).approvals.count == 1)
            try await site.refuses(409, .notApproved, "POST", "/v1/changes/\(first)/publish")
            let reject = try await site.call(
                "POST", "/v1/changes/\(first)/reject", token: "read", body: rejection)
            #expect(reject.status == 200 && reject.json["state"] as? String == "rejected")
            try await site.refuses(409, .outOfTurn, "POST", target, token: "read", body: body(good))
            try await site.refuses(409, .rejected, "POST", "/v1/changes/\(first)/publish")

            // None of it holds up the other change.
            try await site.approve(second)
            let published = try await site.call("POST", "/v1/changes/\(second)/publish")
            #expect(published.json["generation"] as? Int == 1, "\(published.text)")
            try await world.everybodyFollows()
        }
    }

    @Test("The canary is told, and a gate that refuses is named")
    func canary() async throws {
        try await AdministrationSite.run(canary: 3_600) { site in
            let change = try await site.propose()
            try await site.approve(change)
            let began = try await site.call("POST", "/v1/changes/\(change)/publish")
            #expect(began.json["outcome"] as? String == "canary")
            try await site.world.everybodyFollows(as: .canary)
            #expect(began.json["until"] as? String == UTCText.encode(site.world.now + 3_600))
            try await site.refuses(409, .gate, "POST", "/v1/changes/\(change)/publish")
            let gates = try await site.call("GET", "/v1/changes/\(change)/gates", token: "read")
            #expect(gates.json["passed"] as? Bool == false && gates.body.contains(#""gate":"canary""#))
        }
    }

    @Test("The audit comes in lines that verify from the first to the last, part by part")
    func audit() async throws {
        try await AdministrationSite.run { site in
            var entries: [[UInt8]] = []
            while true {
                let target = "/v1/audit?limit=3" + (entries.isEmpty ? "" : "&after=\(entries.count - 1)")
                let answer = try await site.call("GET", target, token: "every")
                #expect(answer.header("Content-Type") == "application/jsonl")
                let lines = answer.body.split(separator: "\n").map { Array($0.utf8) }
                if lines.isEmpty { break }
                #expect(lines.count <= 3)
                entries += lines
            }
            let ledger = site.world.catalog.ledger
            #expect(try AuditChain.verified(entries, known: ledger.chain.head).chain.head == ledger.chain.head)
            for query in ["after=-1", "after=x", "after=00", "limit=0", "limit=1001", "after=9007199254740992", "a=b"] {
                let answer = try await site.call("GET", "/v1/audit?\(query)", token: "every")
                #expect(answer.status == 400, "\(query): \(answer.text)")
            }
            #expect(try await site.call("GET", "/v1/audit?after=9007199254740991", token: "every").body.isEmpty)
        }
    }

    @Test("The chain of approvers comes with signatures that verify")
    func approvers() async throws {
        try await AdministrationSite.run { site in
            let answer = try await site.call("GET", "/v1/approvers", token: "read")
            let statements = try #require(answer.json["statements"] as? [[String: Any]])
            let signed = statements.map { statement in
                SignedApprovers(
                    text: Array((statement["text"] as? String ?? "").utf8),
                    signatures: (statement["signatures"] as? [[String: String]] ?? []).map { signature in
                        ApproverSignature(
                            identity: Digest(hex: signature["identity", default: ""].utf8) ?? .nothing,
                            signature: Base64.decode(signature["signature", default: ""].utf8) ?? [])
                    })
            }
            let chain = try ApproverChain(
                signed, genesis: Digest(of: site.world.story.genesis.text), server: Story.server, known: nil)
            #expect(answer.json["digest"] as? String == "\(chain.head.digest)")
        }
    }

    @Test("Addresses, methods and bodies that do not belong here are refused with the right status")
    func addresses() async throws {
        try await AdministrationSite.run { site in
            for (method, target, status) in [
                ("GET", "/v1", 404), ("GET", "/v1/apps/", 404), ("GET", "//v1/apps", 400), ("GET", "/V1/apps", 404),
                ("GET", "/v1/apps/bank", 404), ("GET", "/v1/%61pps", 400), ("GET", "/v1/apps/../apps", 400),
                ("GET", "/v1/changes/\(String(repeating: "0", count: 31))", 400),
                ("GET", "/v1/changes/\(String(repeating: "0", count: 32))", 404),
                ("GET", "/v1/changes/\(String(repeating: "G", count: 32))", 400),
                ("GET", "/v1/apps/a/hosts", 400), ("GET", "/v1/apps/shop/hosts", 403),
                ("GET", "/v1/documents/\(Digest.nothing)", 404), ("GET", "/v1/documents/x", 400),
                ("GET", "/v1/documents?app=shop", 403), ("GET", "/v1/changes?app=&app=", 400),
                ("GET", "/" + String(repeating: "a", count: 5_000), 414), ("PUT", "/v1/apps", 405),
                ("POST", "/v1/audit", 405), ("DELETE", "/v1/changes", 405), ("PATCH", Self.next, 405),
                ("OPTIONS", "/v1/apps", 405), ("TRACE", "/v1/apps", 405), ("GET", Self.next, 405),
                ("BREW", "/v1/apps", 400),
            ] {
                let answer = try await site.call(method, target)
                #expect(answer.status == status, "\(method) \(target): \(answer.text)")
                #expect(answer.json["code"] is String, "\(method) \(target): \(answer.text)")
                #expect((answer.header("Allow") != nil) == (status == 405))
            }
            #expect(try await site.call("PATCH", Self.next).header("Allow") == "PUT, DELETE")
            #expect(try await site.call("PUT", "/v1/changes").header("Allow") == "GET, HEAD, POST")
            let head = try await site.call("HEAD", "/v1/apps", token: "read")
            let get = try await site.call("GET", "/v1/apps", token: "read")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.header("Content-Length") == get.header("Content-Length"))
            try await site.refuses(400, .badRequest, "GET", "/v1/apps", body: "{}", field: "body")
            let change = try await site.propose()
            try await site.approve(change)
            try await site.refuses(400, .badRequest, "POST", "/v1/changes/\(change)/publish", body: "{}")
            #expect(site.world.publisher.live.current.documents.isEmpty)
            let published = try await site.call("POST", "/v1/changes/\(change)/publish")
            #expect(published.json["generation"] as? Int == 1, "\(published.text)")
            try await site.world.everybodyFollows()
            let large = String(repeating: " ", count: 256 << 10) + "{}"
            let answer = try await site.call("POST", "/v1/changes", body: large)
            answer.isError(413, .tooLarge)
        }
    }

    @Test("Whether the server is ready and writable is said without reasons, and its description is there")
    func health() async throws {
        try await World.run { world in
            try await AdministrationSite.listening(
                for: world.publisher, health: { ServerHealth(unwritable: ["The disk is full."]) }
            ) { port in
                let client = RawClient(port: port)
                #expect(try await client.get("/health/live").status == 200)
                #expect(try await client.get("/health/ready").status == 200)
                let writable = try await client.get("/health/writable")
                #expect(writable.status == 503 && writable.header("Retry-After") == "5", "\(writable.text)")
                #expect(writable.body == #"{"status":"UNAVAILABLE"}"#)
                let text = try await client.get("/openapi.yaml")
                #expect(text.header("Content-Type") == "application/yaml" && text.body.hasPrefix("openapi: 3.1.0\n"))
            }
        }
    }

    @Test("Where other machines reach it, /metrics is for holders of a token to read for all apps")
    func metricsBeyondLoopback() async throws {
        try await World.run { world in
            let (one, every) = (try await world.token("one", .read), try await world.token("all", .read, app: nil))
            let settings = try ListenerSettings(
                port: 0, proxies: TrustedProxies([AddressBlock("127.0.0.1/32")]), identity: nil)
            try await AdministrationSite.listening(for: world.publisher, settings) { port in
                let client = RawClient(port: port)
                func metrics(_ token: AccessToken?) async throws -> RawAnswer {
                    try await client.get("/metrics", token.map { ["Authorization: Bearer \($0.secretText)"] } ?? [])
                }
                let stranger = try await metrics(nil)
                #expect(stranger.status == 401 && !stranger.body.contains("holdfast_"), "\(stranger.text)")
                #expect(try await metrics(one).status == 403)
                #expect(try await metrics(every).status == 200)
            }
            try await AdministrationSite.listening(for: world.publisher) { port in
                let answer = try await RawClient(port: port).get("/metrics")
                #expect(answer.status == 200)
            }
        }
    }

    @Test("A database that cannot be written is a 503 without its path, and nothing is half applied")
    func brokenDatabase() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.propose()
            let approval = AdministrationSite.body(try await site.world.statement(.alice, of: change))
            await site.world.engine.close()
            let answer = try await site.call(
                "POST", "/v1/changes/\(change)/approvals", token: "read", body: approval)
            answer.isError(503, .unavailable)
            #expect(answer.header("Retry-After") == "30" && !answer.body.contains("/"), "\(answer.body)")
        }
    }
}
