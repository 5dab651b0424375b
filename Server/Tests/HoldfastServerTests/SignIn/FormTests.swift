import Foundation
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Forms of pages", .timeLimit(.minutes(10)))
struct FormTests {
    @Test(
        "What is added and proposed at the pages is what commands and calls make, with the person's name, and unapproved"
    )
    func course() async throws {
        try await FormDesk.run { desk in
            let (world, catalog) = (desk.world, desk.world.catalog)
            let browser = try await desk.signIn(.administer)
            let app = try AppName("shop")
            let before = catalog.ledger.chain.head.count
            let added = try await desk.send("/add/app", FormDesk.app(world), in: browser)
            #expect(added.status == 303 && added.header("Location") == "/apps/shop", "\(added.text)")
            let settings = try AppSettings(
                staleness: 7 * 86_400, canary: 0, anchors: [world.root.root], builds: [])
            #expect(try await catalog.app(app) == Catalog.App(name: app, displayName: "Shop", settings: settings))
            let key = try #require(try await catalog.key(.fingerprints, of: app))
            // It opens with the secret alone, and the page shows what apps are configured with.
            #expect(key.program == nil)
            let page = try await desk.load("/apps/shop", in: browser)
            #expect(page.text.contains(PageText.escaped(Base64.encode(Array(key.publicKey.suffix(65))))))

            let placed = try await desk.send("/add/host/shop", FormDesk.host, in: browser)
            let address = "/apps/shop/hosts/shop.example.com?port=8443"
            #expect(placed.status == 303 && placed.header("Location") == address, "\(placed.text)")
            let host = try CatalogHost(
                name: "shop.example.com", port: 8_443, dial: "127.0.0.1", renewal: .sameKey, hasOneKeyKind: true)
            #expect(try await catalog.hosts(of: app) == [host])

            let leaf = try world.root.leaf(names: [.dns(host.name)])
            let next = try FormDesk.next(leaf.chain, from: world.now + 60)
            let announced = try await desk.send("/add/next/shop", next, in: browser)
            #expect(announced.status == 303 && announced.header("Location") == address, "\(announced.text)")
            let spare = try world.root.leaf(names: [.dns(host.name)])
            let spareKey = try spare.subjectPublicKeyInfo
            var key2 = next
            key2["next"] = PEMText.block("PUBLIC KEY", of: spareKey)
            key2["begins"] = ""
            #expect(try await desk.send("/add/next/shop", key2, in: browser).status == 303)
            let known = try await catalog.next(of: host, app)
            #expect(known.chains.map(\.chain) == [try CertificateChain(leaf.chain)] && known.keys == [spareKey])
            #expect(known.chains.first?.begins == world.now + 60)

            let wishes = Catalog.DraftOptions(formats: [
                try ContentFormat(.list, refresh: 3_600), try ContentFormat(.pinFile, refresh: 3_600),
            ])
            let expected = try await catalog.draft(of: app, wishes)
            let proposed = try await desk.send(
                "/add/change/shop", ["reason": "the first pins", "list": "on", "pin-file": "on"], in: browser)
            #expect(proposed.status == 303, "\(proposed.text)")
            let last = try #require(proposed.header("Location")?.split(separator: "/").last)
            let id = try #require(RandomID(hex: last.utf8))
            let change = try await catalog.change(id)
            #expect(change.content == expected && change.reason == "the first pins" && change.forced.isEmpty)
            #expect(change.approvals.isEmpty && change.proposer == nil)
            await expectError(.notApproved) { try await world.publisher.publish(id) }
            #expect(catalog.ledger.generation(of: app) == 0)
            #expect(world.publisher.live.current.document(at: "lists/shop.json".utf8) == nil)
            let count = catalog.ledger.chain.head.count - before
            let entries = try await catalog.audit(after: before - 1, limit: count).map { try AuditEntry($0) }
            #expect(entries.count >= 6 && entries.allSatisfy { $0.actor == "passkey of frank" }, "\(entries)")
        }
    }

    @Test("If no key can be stored for an app that was added, the form says that, and how to make one")
    func keyless() async throws {
        try await FormDesk.run { desk in
            let (world, browser) = (desk.world, try await desk.signIn(.administer))
            _ = try await world.catalog.transact { step throws(ServerError) in
                try step.session.run(
                    "CREATE TRIGGER full BEFORE INSERT ON signing_key BEGIN SELECT RAISE(ABORT, 'full'); END", [])
            }
            let answer = try await desk.send("/add/app", FormDesk.app(world), in: browser)
            #expect(answer.text.contains("The app was added, and has no key"), "\(answer.text)")
            #expect(!answer.text.contains("Nothing was done") && answer.status != 303)
            #expect(world.catalog.apps.contains(try AppName("shop")))
        }
    }

    /// Everything that can be sent, as it would be done.
    private static func all(_ world: World) throws -> [(path: String, fields: [String: String])] {
        var next = try FormDesk.next(world.announced.chain, from: world.now)
        (next["host"], next["port"]) = (World.host, "443")
        return [
            ("/add/app", FormDesk.app(world)), ("/add/host/bank", FormDesk.host), ("/add/next/bank", next),
            ("/add/change/bank", ["reason": "a test", "list": "on"]),
        ]
    }

    @Test(
        "A form of another page, without the session's token, after its end, too large or of another type does nothing"
    )
    func strangers() async throws {
        try await FormDesk.run { desk in
            let browser = try await desk.signIn(.administer)
            let other = try await desk.signIn(.administer, as: "grace", number: 53)
            let forms = try Self.all(desk.world)
            let head = desk.world.catalog.ledger.chain.head
            for (path, fields) in forms {
                for csrf in [other.csrf, "", String(browser.csrf.dropLast())] {
                    let answer = try await desk.send(path, fields, in: browser, csrf: csrf)
                    #expect(answer.status == 403 && answer.text.contains("about csrf"), "\(path): \(answer.text)")
                }
                for (origin, site) in [("https://example.com", "same-origin"), ("null", "cross-site"), (nil, nil)] {
                    let answer = try await desk.send(path, fields, in: browser, origin: origin, site: site)
                    #expect(answer.status == 403 && answer.text.contains("about Origin"), "\(path): \(answer.text)")
                }
                let json = try await desk.send(path, fields, in: browser, type: "text/plain")
                #expect(json.status == 415, "\(path): \(json.text)")
            }
            #expect(desk.world.catalog.ledger.chain.head == head)
            // Larger than any form, and larger than anything that this listener reads.
            for (count, status) in [(FormEntries.limit, 422), (2 << 20, 413)] {
                let much = ["name": String(repeating: "a", count: count)]
                let answer = try await desk.send("/add/app", much, in: other)
                #expect(answer.status == status && !answer.text.contains("id=\"name-error\""), "\(answer.text)")
            }
            for body in ["name=a&name=b", "strange=1", "name=%", "name=%4", "&=&", "\u{0}"] {
                let text = "csrf=\(other.csrf)&\(body)"
                let answer = try await desk.desk.post(
                    "/add/app", text: text, cookies: [other.cookie], type: "application/x-www-form-urlencoded")
                #expect(answer.status == 422 && answer.text.contains("each once"), "\(body): \(answer.text)")
            }
            #expect(try await desk.send("/add/app?name=shop", forms[0].fields, in: other).status == 400)
            #expect(desk.world.catalog.ledger.chain.head == head)
            try await desk.world.catalog.endAllSessions(by: "operator")
            let ended = desk.world.catalog.ledger.chain.head
            for (path, fields) in forms {
                let answer = try await desk.send(path, fields, in: browser)
                #expect(answer.status == 401 && answer.text.contains("Sign in again."), "\(path): \(answer.text)")
            }
            #expect(desk.world.catalog.ledger.chain.head == ended)
        }
    }

    @Test("Somebody may send the forms that their invitation allows, as with a token, and is shown no others")
    func rights() async throws {
        try await FormDesk.run { desk in
            let world = desk.world
            _ = try await world.addApp("other")
            let reader = try await desk.signIn(.read, as: "rita", number: 53)
            let proposer = try await desk.signIn(.propose, as: "paul", number: 55)
            let some = try await desk.signIn(.administer, for: [world.app], as: "anna", number: 57)
            let all = try await desk.signIn(.administer, as: "olga", number: 59)
            let forms =
                try Self.all(world) + [("/add/host/other", FormDesk.host), ("/add/host/nothing", FormDesk.host)]
            let page = "/apps/bank/hosts/\(World.host)"
            for (browser, allowed, refused) in [
                (reader, [], [403, 403, 403, 403, 403, 404]),
                (proposer, [2, 3], [403, 403, 0, 0, 403, 404]),
                (some, [1, 2, 3], [403, 0, 0, 0, 404, 404]),
                (all, [0, 1, 2, 3, 4], [0, 0, 0, 0, 0, 404]),
            ] as [(SignInDesk.Browser, Set<Int>, [Int])] {
                let pages = [
                    try await desk.load("/", in: browser).text, try await desk.load("/apps/bank", in: browser).text,
                    try await desk.load(page, in: browser).text,
                ].joined()
                for (number, form) in forms.enumerated() {
                    let query = number == 2 ? "?host=\(World.host)&port=443" : ""
                    let shown = try await desk.load(form.path + query, in: browser)
                    #expect(shown.status == (allowed.contains(number) ? 200 : 404), "\(form.path): \(shown.text)")
                    if number < 4 {
                        #expect(pages.contains("href=\"\(form.path)") == allowed.contains(number), "\(form.path)")
                    }
                    // Another test sends allowed forms. Here, a second one would add the same app twice.
                    guard !allowed.contains(number) else { continue }
                    let head = world.catalog.ledger.chain.head
                    let answer = try await desk.send(form.path, form.fields, in: browser)
                    #expect(answer.status == refused[number], "\(form.path): \(answer.text)")
                    #expect(world.catalog.ledger.chain.head == head)
                }
            }
            let sent = try await desk.send(forms[2].path, forms[2].fields, in: proposer)
            #expect(sent.status == 303, "\(sent.text)")
            let placed = try await desk.send(forms[1].path, forms[1].fields, in: some)
            #expect(placed.status == 303, "\(placed.text)")
            // The rights of the invitation are in the audit, and no row gives more.
            try await PasskeyDesk(world: world).write(
                """
                UPDATE passkey SET octets = (SELECT octets FROM passkey AS other WHERE other.credential = $1) \
                WHERE credential = $2
                """, [.bytes([59]), .bytes([53])])
            #expect(try await desk.send(forms[1].path, forms[1].fields, in: reader).status == 503)
        }
    }

    @Test("Somebody who approves as well has their own key named as the proposer's, which approves nothing of theirs")
    func proposers() async throws {
        try await FormDesk.run { desk in
            let world = desk.world
            let browser = try await desk.signIn(.propose, as: "alice")
            let answer = try await desk.send("/add/change/bank", ["reason": "a test", "list": "on"], in: browser)
            let last = try #require(answer.header("Location")?.split(separator: "/").last, "\(answer.text)")
            let id = try #require(RandomID(hex: last.utf8))
            #expect(try await world.catalog.change(id).proposer == Approver.alice.key.identity)
            try await world.approve(id)
            await expectError(.notApproved) { try await world.publisher.publish(id) }
        }
    }

    @Test("A passkey that was removed is registered again for what its person might do, and for nothing else")
    func again() async throws {
        try await FormDesk.run { desk in
            let world = desk.world
            _ = try await desk.signIn(.propose)
            let identity = try SoftPasskey(number: 51, id: [51]).key.identity
            try await world.catalog.removePasskey(identity, by: "operator")
            for (seed, scope) in [(61, .read), (63, .administer), (65, .propose)] as [(UInt64, TokenGrant.Scope)] {
                let token = PasskeyDesk.token(seed)
                try await world.catalog.invite(
                    PasskeyDesk.signed(
                        PasskeyDesk(world: world).invitation(token, .signIn, for: "mallory", scope: scope)))
                let answer = try await desk.desk.register(
                    SoftPasskey(number: 51, id: [51]), (token: token, path: "/invitation/\(token.digest)"))
                #expect(answer.status == (scope == .propose ? 201 : 409), "\(scope): \(answer.text)")
            }
            #expect(try await world.catalog.passkeys().map(\.scope) == [.propose])
        }
    }

    @Test("What is wrong with a form stands beside its field, with what was written, and nothing was done")
    func errors() async throws {
        try await FormDesk.run { desk in
            let world = desk.world
            let browser = try await desk.signIn(.administer)
            let second = try await desk.signIn(.administer, as: "grace", number: 53)
            let app = FormDesk.app(world)
            let forms = try Self.all(world)
            let hostile = "<script>alert(1)</script>\u{202E}"
            let wrong: [(Int, String, String, Int)] = [
                (0, "name", "b", 422), (0, "name", hostile, 422), (0, "name", "bank", 409), (0, "staleness", "0", 422),
                (0, "staleness", "1e3", 422), (0, "canary", "169", 422),
                (0, "anchors", "", 422), (0, "anchors", hostile, 422),
                (0, "anchors", PEMText.block("CERTIFICATE", of: [0x30, 0]), 422),
                (0, "title", String(repeating: "a", count: 256), 422),
                (1, "name", "Shop.example.com", 422), (1, "name", World.host, 409), (1, "port", "0", 422),
                (1, "port", "65536", 422), (1, "dial", "a b", 422), (1, "renewal", hostile, 422),
                (2, "host", "nobody.example.com", 404), (2, "next", hostile, 422), (2, "next", "", 422),
                (2, "next", PEMText.block("PUBLIC KEY", of: [1, 2, 3]), 422), (2, "begins", "tomorrow", 422),
                (3, "reason", "", 422), (3, "list", "", 422),
            ]
            let head = world.catalog.ledger.chain.head
            for (number, (form, field, text, status)) in wrong.enumerated() {
                var fields = forms[form].fields
                fields[field] = text
                if form == 1, field == "name", status == 409 { fields["port"] = "443" }
                let answer = try await desk.send(forms[form].path, fields, in: number % 2 == 0 ? browser : second)
                let comment = "\(form) \(field) \(text.prefix(40)): \(answer.text)"
                #expect(answer.status == status, "\(comment)")
                let isHidden = field == "host"
                #expect(answer.text.contains(isHidden ? "class=\"bad\"" : "id=\"\(field)-error\""), "\(comment)")
                #expect(answer.text.contains("Nothing was done.") && answer.text.contains("expected"), "\(comment)")
                #expect(!answer.text.contains("<script>alert") && !answer.text.contains("\u{202E}"), "\(comment)")
                if form == 0, field != "title" { #expect(answer.text.contains("value=\"Shop\""), "\(comment)") }
            }
            // A private key in a form is not sent back.
            let secret = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEhvbGRmYXN0\n-----END PRIVATE KEY-----\n"
            for (form, field) in [(0, "anchors"), (2, "next")] {
                var fields = forms[form].fields
                fields[field] = (fields[field] ?? "") + secret
                let answer = try await desk.send(forms[form].path, fields, in: second)
                #expect(answer.status == 422 && answer.text.contains("found a private key"), "\(answer.text)")
                #expect(!answer.text.contains("MC4CAQAwBQYDK2Vw"))
            }
            #expect(world.catalog.ledger.chain.head == head)
            #expect(app["name"] == "shop" && world.catalog.apps == [world.app])
        }
    }

    @Test(
        "Once something is published a form changes no formats, and proposes what is published with what was announced")
    func later() async throws {
        try await FormDesk.run { desk in
            let world = desk.world
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let browser = try await desk.signIn(.propose)
            let form = try await desk.load("/add/change/bank", in: browser)
            #expect(form.status == 200 && !form.text.contains("type=\"checkbox\""), "\(form.text)")
            let other = try await desk.send("/add/change/bank", ["reason": "a test", "list": "on"], in: browser)
            #expect(other.status == 409 && other.text.contains("the formats that are published"), "\(other.text)")
            let answer = try await desk.send("/add/change/bank", ["reason": "a test"], in: browser)
            let last = try #require(answer.header("Location")?.split(separator: "/").last, "\(answer.text)")
            let change = try await world.catalog.change(#require(RandomID(hex: last.utf8)))
            #expect(Set(change.content.formats) == Set(World.fewFormats))
        }
    }

    @Test("A damaged form is read as it could be meant, or is refused")
    func damaged() throws {
        let root = try TestAuthority.root()
        var generator = SeededGenerator(seed: 0xF0)
        let session = AccessToken(using: &generator)
        let csrf = CSRFToken(of: session)
        let leaf = try root.leaf(names: [.dns(World.host)])
        let app = try AppName("bank")
        let next = try FormDesk.next(leaf.chain, from: 1_795_000_000).merging(["csrf": csrf.text]) { own, _ in own }
        let forms: [(FormRoute, [String: String])] = [
            (.next(app), next), (.host(app), FormDesk.host.merging(["csrf": csrf.text]) { own, _ in own }),
        ]
        for (number, (route, fields)) in forms.enumerated() {
            var (own, strange, announced) = (0, 0, 0)
            let seeds = [Array(FormDesk.body(fields).utf8)]
            let read = campaign(0xF010 + UInt64(number), seeds, count: mutants(inPartsOf: 4)) { mutant in
                let entries = try FormEntries(mutant, of: route)
                let shown = entries.bytes("csrf")
                #expect(csrf.isSame(as: shown) == shown.elementsEqual(csrf.text.utf8))
                if csrf.isSame(as: shown) { own += 1 } else { strange += 1 }
                for name in route.names { #expect(entries.bytes(name).count <= mutant.count) }
                if let port = try? entries.number("port", in: 1...65_535) { #expect((1...65_535).contains(port)) }
                guard number == 0, let begins = UTCText.decode(entries.bytes("begins")) else { return }
                guard case .chain(let chain, begins) = try Announcement(chain: entries.bytes("next"), begins: begins)
                else { return }
                announced += 1
                #expect((1...16).contains(chain.certificates.count))
            }
            #expect(read > 0 && read < mutants(inPartsOf: 4) && own > 0 && strange > 0)
            #expect(number > 0 || announced > 0)
        }
    }
}
