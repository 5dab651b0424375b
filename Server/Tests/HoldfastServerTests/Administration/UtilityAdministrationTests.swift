import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// The administration of the reference, as its tools call it.
@Suite("The reference's administration", .timeLimit(.minutes(5)))
struct UtilityAdministrationTests {
    /// A site with something published, and a listener on which the switch is as given.
    private func listening(
        isOn: Bool = true, _ body: (AdministrationSite) async throws -> Void
    ) async throws {
        try await AdministrationSite.run { site in
            let rule = try VersionRule(platform: .ios, required: AppVersion("2.0.0".utf8), messageKey: "update")
            let text = try LocalizedText(key: "update", language: "en", text: "Please update")
            try await site.world.catalog.set(versions: [rule], texts: [text], of: site.world.app, by: "operator")
            let formats = World.formats.filter { $0.kind == .list || $0.kind == .challenge }
            try await site.world.publish(try await site.world.draft { $0.formats = formats })
            try await AdministrationSite.listening(for: site.world.publisher, answersUtilityTools: isOn) { port in
                try await body(AdministrationSite(world: site.world, port: port, tokens: site.tokens))
            }
        }
    }

    private func call(
        _ site: AdministrationSite, _ method: String, _ target: String, token: String = "propose", user: String? = nil,
        body: String? = nil, type: String = "application/json"
    ) async throws -> RawAnswer {
        let secret = try #require(site.tokens[token]).secretText
        let credentials = Data("\(user ?? token):\(secret)".utf8).base64EncodedString()
        var lines = [
            "\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close",
            "Authorization: Basic \(credentials)",
        ]
        if let body { lines += ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] }
        return RawAnswer(
            try await RawClient(port: site.port)
                .exchange(lines.map { $0 + "\r\n" }.joined() + "\r\n" + (body ?? "")))
    }

    private func code(_ answer: RawAnswer) -> String? {
        (answer.json["responseObject"] as? [String: Any])?["code"] as? String
    }

    /// The change that an answer is about, if nothing was published by it.
    private func change(_ answer: RawAnswer, _ site: AdministrationSite) async throws -> Content {
        #expect(answer.status == 202, "\(answer.text)")
        let id = try #require(RandomID(hex: (answer.json["id"] as? String ?? "").utf8))
        #expect(answer.text.contains("/v1/changes/\(id)"))
        let change = try await site.world.catalog.change(id)
        #expect(site.world.catalog.ledger.generation(of: site.world.app) == 1)
        #expect(change.approvals.isEmpty && change.forced.isEmpty)
        return change.content
    }

    @Test("It is off by default, and then nothing is there")
    func off() async throws {
        try await listening(isOn: false) { site in
            let answer = try await call(site, "GET", "/admin/apps")
            #expect(answer.status == 404 && answer.json["code"] as? String == "notFound")
        }
    }

    @Test("A flag, a variable or the file switches it on, and nothing else than true and false does")
    func settings() async throws {
        func isOn(_ flags: [ServeSettings.Name: String], _ environment: [String: String] = [:]) async throws -> Bool {
            try await ServeSettings(flags: flags, environment: environment, file: nil).answersUtilityTools
        }
        #expect(try await !isOn([:]))
        #expect(try await isOn([.utilityAdmin: "true"]))
        #expect(try await isOn([:], ["HOLDFAST_SERVER_UTILITY_ADMIN": "true"]))
        #expect(try await !isOn([.utilityAdmin: "false"], ["HOLDFAST_SERVER_UTILITY_ADMIN": "true"]))
        let error = await expectError(.invalidValue) { try await isOn([.utilityAdmin: "yes"]) }
        #expect(error?.subject == "utility-admin")
    }

    @Test("Reads are as the reference has them")
    func reads() async throws {
        try await listening { site in
            let apps = try await call(site, "GET", "/admin/apps")
            #expect(apps.status == 200)
            #expect(apps.body == #"{"applications":[{"displayName":"Bank","name":"bank"}]}"#)
            let app = try await call(site, "GET", "/admin/apps/bank", token: "read")
            #expect(app.json["publicKey"] as? String == (try await site.world.publicKey()))
            let domains = try #require(app.json["domains"] as? [[String: Any]])
            #expect(domains.count == 1 && domains[0]["name"] as? String == World.host)
            let certificates = try #require(domains[0]["certificates"] as? [[String: Any]])
            let shown = try #require(
                certificates.first { $0["pem"] as? String == TestCertificate.pem(site.world.shown.der) })
            #expect(
                shown["fingerprint"] as? String
                    == Base64.encode(HoldfastServer.Digest(of: site.world.shown.der).octets))
            #expect(certificates.count == 2 && certificates.allSatisfy { $0["expires"] is Int })
            #expect(certificates.allSatisfy { $0["depth"] as? Int == 0 })
            let version = #"{"id":1,"messageKey":"update","platform":"IOS","requiredVersion":"2.0.0"}"#
            #expect(
                try await call(site, "GET", "/admin/apps/bank/versions").body
                    == #"{"applicationVersions":[\#(version)]}"#)
            #expect(try await call(site, "GET", "/admin/apps/bank/versions/1").body == version)
            let text = #"{"language":"en","messageKey":"update","text":"Please update"}"#
            #expect(try await call(site, "GET", "/admin/texts").body == #"{"texts":[\#(text)]}"#)
            #expect(try await call(site, "GET", "/admin/texts/update/en").body == text)
            for missing in ["/admin/apps/bank/versions/2", "/admin/texts/update/cs", "/admin/nothing"] {
                #expect(try await call(site, "GET", missing).status == 404, "\(missing)")
            }
            let stranger = try await call(site, "GET", "/admin/apps/other")
            #expect(stranger.status == 404 && code(stranger) == "APP_NOT_FOUND")
        }
    }

    @Test("What is written becomes a change, and is published by nobody but approvers")
    func writes() async throws {
        try await listening { site in
            let world = site.world
            let new = try world.root.leaf(names: [.dns(World.host)])
            let digest = HoldfastServer.Digest(of: new.der)
            let pem = TestCertificate.pem(new.der).replacing("\n", with: "\\n")
            func certificates(_ content: Content) -> Set<HoldfastServer.Digest> {
                Set(content.hosts.flatMap(\.certificates).map(\.fingerprint))
            }
            let added = try await change(
                call(
                    site, "POST", "/admin/apps/bank/certificates/pem",
                    body: #"{"pem":"\#(pem)","domain":"\#(World.host)"}"#), site)
            #expect(certificates(added).contains(digest) && certificates(added).count == 3)
            let announced = HoldfastServer.Digest(of: world.announced.der)
            let fingerprint = Base64.encode(announced.octets).replacing("+", with: "%2B").replacing("=", with: "%3D")
            let removed = try await change(
                call(
                    site, "DELETE",
                    "/admin/apps/bank/certificates?domain=\(World.host)&fingerprint=\(fingerprint)"), site)
            #expect(certificates(removed) == [HoldfastServer.Digest(of: world.shown.der)])
            let gone = try await change(
                call(site, "DELETE", "/admin/apps/bank/domains?domain=\(World.host)"), site)
            #expect(gone.hosts.isEmpty)
            let seen = try await change(
                call(site, "POST", "/admin/apps/bank/certificates/auto", body: #"{"domain":"\#(World.host)"}"#), site)
            #expect(certificates(seen).count == 2)
            let bypass = try await change(
                call(
                    site, "PUT", "/admin/apps/bank/pinning-bypass-domains", body: #"["cdn.example.com"]"#),
                site)
            #expect(
                bypass.domains?.domains.map { "\($0.name) \($0.needsPins)" }
                    == ["\(World.host) true", "cdn.example.com false"])
            #expect(bypass.domains?.unlistedNeedPins == true)
            for body in [#"{"domains":["cdn.example.com"]}"#, #"[1]"#, #"["CDN"]"#, "[", ""] {
                let answer = try await call(site, "PUT", "/admin/apps/bank/pinning-bypass-domains", body: body)
                #expect(answer.status == 400 && answer.body.contains("ERROR_REQUEST"), "\(body): \(answer.text)")
            }
            let rule = #"{"platform":"ANDROID","majorOsVersion":31,"suggestedVersion":"3.1.0"}"#
            let versions = try await change(call(site, "POST", "/admin/apps/bank/versions", body: rule), site)
            #expect(versions.versions.count == 2)
            let text = try await change(
                call(site, "POST", "/admin/texts", body: #"{"messageKey":"update","language":"cs","text":"x"}"#), site)
            #expect(text.texts.count == 2)
            #expect(try await change(call(site, "DELETE", "/admin/apps/bank/versions/1"), site).versions.isEmpty)
            #expect(try await change(call(site, "DELETE", "/admin/texts/update/en"), site).texts.isEmpty)
            #expect(try await call(site, "DELETE", "/admin/certificates/expired").body == #"{"status":"OK"}"#)
            // Reads say what is published.
            #expect(try await call(site, "GET", "/admin/texts").body.contains("Please update"))
            // So does what the next change is made from, until people have approved another.
            let kept = try await world.catalog.versionsAndTexts(of: world.app)
            #expect(kept.versions.count == 1 && kept.texts.count == 1)
            let wanted = try #require(
                try await world.catalog.changes(of: world.app).first { $0.content.versions.count == 2 })
            try await world.approve(wanted.id)
            #expect(try await world.publisher.publish(wanted.id).stage == .published(generation: 2))
            #expect(try await world.catalog.versionsAndTexts(of: world.app).versions.count == 2)
            try await world.everybodyFollows(refusing: [new], isThorough: false)
        }
    }

    /// Another app with something published, whose rule for versions refers to the same text.
    private func addShop(to site: AdministrationSite) async throws -> AppName {
        let (shop, change) = try await site.world.addApp("shop")
        let rule = try VersionRule(platform: .android, required: AppVersion("3.0.0".utf8), messageKey: "update")
        let text = try LocalizedText(key: "update", language: "en", text: "Please update the shop")
        try await site.world.catalog.set(versions: [rule], texts: [text], of: shop, by: "operator")
        try await site.world.catalog.add(try await site.world.statement(.carol, .reject, of: change))
        let wishes = Catalog.ContentWishes(
            formats: [try ContentFormat(.list, refresh: 3_600), try ContentFormat(.challenge, refresh: 3_600)],
            includesSeen: true)
        let proposal = try await site.world.propose(site.world.catalog.draft(of: shop, wishes))
        try await site.world.approve(proposal.change)
        #expect(try await site.world.publisher.publish(proposal.change).stage == .published(generation: 1))
        return shop
    }

    @Test("A text of several apps is a change of each of them, or of none")
    func severalApps() async throws {
        try await listening { site in
            let world = site.world
            let shop = try await addShop(to: site)
            var tokens = site.tokens
            tokens["all"] = try await world.token("all", .propose, app: nil)
            let wide = AdministrationSite(world: world, port: site.port, tokens: tokens)
            let body = #"{"messageKey":"update","language":"cs","text":"x"}"#
            let both = try await call(wide, "POST", "/admin/texts", token: "all", body: body)
            #expect(both.status == 202 && both.header("Location") == nil, "\(both.text)")
            let changes = try #require(both.json["changes"] as? [[String: Any]])
            #expect(changes.compactMap { $0["app"] as? String } == ["bank", "shop"], "\(both.text)")
            for change in changes {
                let id = try #require(RandomID(hex: (change["id"] as? String ?? "").utf8))
                #expect(try await world.catalog.change(id).content.texts.count == 2)
            }
            // A token for one app changes that.
            let own = try await call(site, "POST", "/admin/texts", body: body)
            #expect(own.status == 202 && own.json["app"] as? String == "bank", "\(own.text)")

            // Both have a text of this name; a token for one app shows that app's.
            tokens["shop"] = try await world.token("shop", .read, app: shop)
            let narrow = AdministrationSite(world: world, port: site.port, tokens: tokens)
            for (token, text) in [
                ("all", "Please update"), ("shop", "Please update the shop"), ("read", "Please update"),
            ] {
                let answer = try await call(narrow, "GET", "/admin/texts/update/en", token: token)
                #expect(answer.json["text"] as? String == text, "\(token): \(answer.text)")
            }

            // The second app takes no more changes, so the first gets none either.
            let content = try #require(try await world.publisher.published(shop))
            let outlook = try await world.catalog.changes(of: shop)[0].outlook
            var generator = SystemRandomNumberGenerator()
            while world.catalog.ledger.openChanges(at: world.now).count(where: { $0.proposal.app == shop }) < 100 {
                _ = try await world.catalog.propose(
                    content, outlook: outlook, forcing: [], proposer: nil, reason: "a test", by: "test", base: 1,
                    using: &generator)
            }
            let head = world.catalog.ledger.chain.head
            let full = try await call(wide, "POST", "/admin/texts", token: "all", body: body)
            #expect(full.status == 400 && full.text.contains("less than 100 open changes of shop"), "\(full.text)")
            #expect(world.catalog.ledger.chain.head == head)
        }
    }

    @Test("Tokens are passwords of their names, and what is wrong is said as the reference says it")
    func refusals() async throws {
        try await listening { site in
            for (token, user) in [("propose", "another"), ("gate", "gate")] {
                let answer = try await call(site, "GET", "/admin/apps", token: token, user: user)
                #expect(answer.status == 401 && code(answer) == "ERROR_AUTHENTICATION", "\(answer.text)")
                #expect(answer.text.contains("WWW-Authenticate: Basic"))
            }
            let reader = try await call(
                site, "DELETE", "/admin/apps/bank/domains?domain=\(World.host)", token: "read")
            #expect(reader.status == 401)
            let bearer = try await site.call("GET", "/admin/apps", token: "read")
            #expect(bearer.status == 401)
            let head = site.world.catalog.ledger.chain.head
            // What a form of any page can send, with the password that a browser keeps.
            for type in ["text/plain", "application/x-www-form-urlencoded"] {
                let rule = #"{"platform":"ANDROID","suggestedVersion":"3.1.0"}"#
                let answer = try await call(site, "POST", "/admin/apps/bank/versions", body: rule, type: type)
                #expect(answer.status == 400 && code(answer) == "ERROR_REQUEST", "\(type): \(answer.text)")
            }
            for (method, target, body, expected) in [
                ("POST", "/admin/apps", #"{"name":"x"}"#, "APP_EXCEPTION"),
                ("POST", "/admin/apps/bank/versions", #"{"platform":"SYMBIAN"}"#, "ERROR_REQUEST"),
                ("POST", "/admin/apps/bank/versions", "[]", "ERROR_REQUEST"),
                ("POST", "/admin/apps/bank/certificates/pem", #"{"pem":"x"}"#, "ERROR_REQUEST"),
                ("POST", "/admin/texts", #"{"messageKey":"other","language":"en","text":"x"}"#, "APP_EXCEPTION"),
                ("DELETE", "/admin/apps/bank/domains", "", "ERROR_REQUEST"),
                ("DELETE", "/admin/apps/bank/domains?other=x", "", "ERROR_REQUEST"),
            ] {
                let answer = try await call(site, method, target, body: body.isEmpty ? nil : body)
                #expect(answer.status == 400 && code(answer) == expected, "\(method) \(target): \(answer.text)")
            }
            #expect(site.world.catalog.ledger.chain.head == head)
        }
    }
}
