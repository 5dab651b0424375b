import Foundation
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Tokens", .timeLimit(.minutes(5)))
struct TokenTests {
    /// An address of each route that something stands at, with a body that it would take.
    private static func request(
        _ route: AdministrationRoute, _ site: AdministrationSite, change: RandomID
    ) throws -> (method: String, target: String, body: String?) {
        let digest = "\(Digest(of: site.world.announced.der))"
        var target = route.template
        for (name, value) in [
            ("{app}", "bank"), ("{host}", World.host), ("{digest}", digest), ("{change}", "\(change)"),
            ("{purpose}", "fingerprints"),
        ] {
            target = target.replacingOccurrences(of: name, with: value)
        }
        let body: String? =
            switch route {
            case .announceNext: #"{"key":"no PEM"}"#
            case .reportSightings: #"{"format":"holdfast-sightings-v0"}"#
            case .setHost: #"{"renewal":"never"}"#
            case .propose: #"{"app":"bank","reason":"","proposer":"nobody"}"#
            case .approve, .reject: #"{"text":"","identity":"","signature":""}"#
            case .handInDrafts: #"{"root":"e30="}"#
            case .replaceKey: #"{"replaces":""}"#
            case .switchReports: #"{"enabled":0}"#
            default: nil
            }
        return (route.method.rawValue, target, body)
    }

    @Test("Each call needs a token of its scope, and a better one does as well")
    func scopes() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.world.propose().change
            for route in AdministrationRoute.allCases {
                let (method, target, body) = try Self.request(route, site, change: change)
                func status(_ token: String?) async throws -> Int {
                    try await site.call(method, target, token: token, body: body).status
                }
                let allowed: [String] =
                    switch route.access {
                    case .anybody: ["gate", "read", "propose", "administer"]
                    case .gate: ["gate", "read", "propose", "administer"]
                    case .holder(let scope):
                        switch scope {
                        case .gate: []
                        case .read: ["read", "propose", "administer"]
                        case .propose: ["propose", "administer"]
                        case .administer: ["administer"]
                        }
                    }
                if case .anybody = route.access {
                    #expect(try await status(nil) == 200, "\(route)")
                } else {
                    #expect(try await status(nil) == 401, "\(route)")
                    let none = try await site.call(method, target, token: nil, body: body)
                    #expect(none.header("WWW-Authenticate") == #"Bearer realm="holdfast""#)
                }
                for scope in AdministrationSite.scopes {
                    let answer = try await site.call(method, target, token: scope.name, body: body)
                    let isAllowed = allowed.contains(scope.name)
                    // The audit covers all apps, so a token of one app is never enough.
                    let isForbidden = !isAllowed || route == .readAudit
                    #expect((answer.status == 403) == isForbidden, "\(route) by \(scope.name): \(answer.text)")
                    #expect(answer.status != 401, "\(route) by \(scope.name): \(answer.text)")
                }
            }
        }
    }

    @Test("A token of another app opens nothing, whether that app exists or not")
    func otherApp() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let shop = try AppName("shop")
            try await world.catalog.addApp(
                shop, displayName: "Shop", settings: AppSettings(anchors: [world.root.root], builds: []), by: "operator"
            )
            let change = try await world.propose().change
            let bearer = try await world.token("shop", .administer, app: shop).secretText
            for route in AdministrationRoute.allCases {
                guard case .holder = route.access, route != .propose else { continue }
                let (method, target, body) = try Self.request(route, site, change: change)
                let answer = try await site.call(method, target, bearer: bearer, body: body)
                switch route {
                case .listApps:
                    #expect(answer.body.contains("shop") && !answer.body.contains("bank"))
                case .listChanges, .listDocuments:
                    #expect(answer.status == 200 && !answer.body.contains("bank"))
                    try await site.call(method, target + "?app=bank", bearer: bearer).isError(403, .forbidden)
                case .listApprovers: #expect(answer.status == 200)
                case .getDocument: #expect(answer.status == 404)
                case _ where target.contains("\(change)"): answer.isError(404, .notFound, "\(route)")
                default: answer.isError(403, .forbidden, "\(route)")
                }
            }
            // The same words for an app that does not exist.
            let there = try await site.call("GET", "/v1/apps/bank/hosts", bearer: bearer)
            let nowhere = try await site.call("GET", "/v1/apps/none/hosts", bearer: bearer)
            #expect(there.body == nowhere.body && there.status == 403)
            let proposal = try await site.call(
                "POST", "/v1/changes", bearer: bearer, body: AdministrationSite.proposal())
            proposal.isError(403, .forbidden)
            let wrong = try await site.call(
                "GET", "/v1/apps/bank/hosts/\(World.host)/next/\(Digest(of: world.announced.der))/ready",
                bearer: bearer)
            wrong.isError(403, .forbidden)
        }
    }

    @Test("A gate's token is for its hosts only")
    func gates() async throws {
        try await AdministrationSite.run { site in
            try await site.world.catalog.set(
                try CatalogHost(name: "www.example.com"), of: site.world.app, by: "operator")
            let digest = Digest(of: site.world.announced.der)
            for target in ["www.example.com/next/\(digest)/ready", "\(World.host)/next/\(digest)/ready?port=8443"] {
                try await site.refuses(403, .forbidden, "GET", "/v1/apps/bank/hosts/\(target)", token: "gate")
                try await site.refuses(404, .notFound, "GET", "/v1/apps/bank/hosts/\(target)", token: "read")
            }
        }
    }

    @Test("A token counts until its last second, and until it is revoked, also by another process")
    func ends() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let short = try await world.token("short", .read, for: 60).secretText
            world.clock.advance(by: .seconds(60))
            #expect(try await site.call("GET", "/v1/apps", bearer: short).status == 200)
            world.clock.advance(by: .seconds(1))
            try await site.call("GET", "/v1/apps", bearer: short).isError(401, .unauthorized)
            // A clock that is set back makes it no younger: something happened after its end.
            try await world.catalog.set(world.catalogHost, of: world.app, by: "operator")
            world.clock.advance(by: .seconds(-30))
            try await site.call("GET", "/v1/apps", bearer: short).isError(401, .unauthorized)
            world.clock.advance(by: .seconds(30))

            let other = try await Catalog(
                world.engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                head: HeadFile(world.folder.appending(path: "head")), time: World.time(world.clock, in: world.folder))
            #expect(try await site.call("GET", "/v1/apps", token: "read").status == 200)
            try await other.revokeToken("read", by: "operator")
            let answer = try await site.call("GET", "/v1/apps", token: "read")
            answer.isError(401, .unauthorized)
            #expect(answer.header("WWW-Authenticate")?.contains("invalid_token") == true)
            // The name is free again, and the old token stays worthless.
            _ = try await world.token("read", .read)
            try await site.refuses(401, .unauthorized, "GET", "/v1/apps", token: "read")
            await expectError(.notFound) { try await world.catalog.revokeToken("read\u{301}", by: "operator") }
            await expectError(.constraint) { try await world.token("read", .administer) }
            await expectError(.invalidValue) { try await world.token("late", .read, for: 0) }
            await expectError(.notFound) { try await world.token("gone", .read, app: AppName("gone")) }
            await expectError(.notFound) { try await world.token("gate-2", .gate(hosts: ["x.example.com:443"])) }
        }
    }

    @Test("Rows of an attacker give nothing: a new token, a wider scope, another end, a digest in a better row")
    func attackers() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            var generator = SystemRandomNumberGenerator()
            let forged = AccessToken(using: &generator)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    "INSERT INTO token (digest, name, app, scopes, created_at, ends_at) VALUES ($1, 'x', NULL, 'administer', 0, 9999999999)",
                    [.bytes(forged.digest.bytes)])
            }
            try await site.call("GET", "/v1/apps", bearer: forged.secretText).isError(401, .unauthorized)
            let read = try #require(site.tokens["read"])
            let steps: [Query] = [
                "UPDATE token SET scopes = 'administer' WHERE name = 'read'",
                "UPDATE token SET scopes = 'read', app = NULL WHERE name = 'read'",
                "UPDATE token SET app = 'bank', ends_at = ends_at + 1 WHERE name = 'read'",
                "DELETE FROM token WHERE name = 'read'",
            ]
            for step in steps {
                try await world.engine.write { session throws(ServerError) in _ = try session.run(step, []) }
                try await site.call("DELETE", "/v1/apps/bank/hosts/\(World.host)/next", bearer: read.secretText)
                    .isError(503, .brokenChain)
            }
            // The digest of the weak token in the row of the strong one, and the other way around.
            let strong = try #require(site.tokens["administer"])
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("DELETE FROM token WHERE name = 'administer'", [])
                _ = try session.run(
                    "INSERT INTO token (digest, name, app, scopes, created_at, ends_at) VALUES ($1, 'administer', 'bank', 'administer', 0, $2)",
                    [.bytes(read.digest.bytes), .integer(world.now + 366 * 86_400)])
            }
            for token in [read, strong] {
                try await site.call("DELETE", "/v1/apps/bank/hosts/\(World.host)/next", bearer: token.secretText)
                    .isError(503, .brokenChain)
            }
            #expect(try await world.catalog.next(of: world.catalogHost, world.app).chains.count == 1)
            // An entry of the audit without the file of its head stops everything.
            let entry = try world.catalog.ledger.chain.next(
                .token, by: "operator", at: world.now,
                facts: [
                    "action": "added", "token": "\(forged.digest)", "name": "x", "scope": "administer",
                    "end": "9999999999",
                ])
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .bytes(entry.bytes)])
            }
            try await site.call("GET", "/v1/apps", bearer: forged.secretText).isError(503, .brokenChain)
        }
    }

    @Test("Only the one spelling of a token counts, in one header")
    func spellings() async throws {
        try await AdministrationSite.run { site in
            let token = try #require(site.tokens["read"]).secretText
            let client = RawClient(port: site.port)
            for (header, status) in [
                ("Authorization: Bearer \(token)", 200), ("authorization: bEARER \(token)", 200),
                ("Authorization: Bearer \(token.uppercased())", 401), ("Authorization: Bearer  \(token)", 401),
                ("Authorization: Bearer \(token)0", 401), ("Authorization: Bearer \(token.dropLast())", 401),
                ("Authorization: Bearer", 401), ("Authorization: \(token)", 401),
                ("Authorization: Basic \(token)", 401), ("Authorization: Bearer \(token), Bearer \(token)", 401),
                ("Authorization: Bearer \(token)\r\nAuthorization: Bearer \(token)", 401),
                ("Authorization: Bearer \(token.dropFirst(9))", 401), ("X-Authorization: Bearer \(token)", 401),
            ] {
                #expect(try await client.get("/v1/apps", [header]).status == status, "\(header)")
            }
            #expect(try await client.get("/v1/apps?access_token=\(token)").status == 401)
        }
    }

    @Test("Who guesses is slowed down, and holders of tokens beside them are not")
    func guessing() async throws {
        try await AdministrationSite.run { site in
            var statuses: [Int] = []
            for guess in 0..<240 {
                let bearer = "holdfast_" + String(repeating: "0", count: 60) + String(1_000 + guess)
                let answer = try await site.call("GET", "/v1/apps", bearer: bearer)
                statuses.append(answer.status)
                if answer.status == 429 {
                    #expect(Int(answer.header("Retry-After") ?? "") ?? 0 >= 1)
                    answer.isError(429, .tooManyRequests)
                    break
                }
            }
            #expect(statuses.dropLast().allSatisfy { $0 == 401 } && statuses.last == 429)
            #expect(try await site.call("GET", "/v1/apps", token: "read").status == 200)
        }
    }

    @Test("A token has sixty turns at what is costly, a request with a mistake takes none, and others have their own")
    func turns() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.world.propose().change
            let hand = ManualInstant()
            let responder = AdministrationResponder(
                publisher: site.world.publisher, counters: ListenerCounters(), health: { ServerHealth() },
                rates: AdministrationRates(instant: { hand.value.withLock { $0 } }))
            func status(_ method: HTTPMethod, _ target: String, _ token: String, _ body: String = "") async throws
                -> UInt
            {
                let bearer = try #require(site.tokens[token]).secretText
                let headers: HTTPHeaders = ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"]
                let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
                let request = ListenerRequest(head: head, body: ByteBuffer(string: body), source: .unknown)
                return await responder.answer(request).status.code
            }
            let path = "/v1/changes/\(change)"
            let nobody = "/v1/changes/\(String(repeating: "0", count: 32))"
            let unannounced = "/v1/apps/bank/hosts/\(World.host)/next/\(Digest.nothing)/ready"
            for _ in 0..<70 {
                #expect(try await status(.GET, "\(nobody)/gates", "administer") == 404)
                #expect(try await status(.POST, "/v1/changes", "administer", "{}") == 422)
            }
            for _ in 0..<60 { #expect(try await status(.GET, unannounced, "administer") == 404) }
            let next = "/v1/apps/bank/hosts/\(World.host)/next"
            let costly: [(HTTPMethod, String, String)] = [
                (.GET, unannounced, ""), (.GET, "\(path)/gates", ""), (.POST, "\(path)/publish", ""),
                (.POST, "/v1/changes", AdministrationSite.proposal()), (.GET, "/v1/changes", ""),
                (.GET, "/v1/documents", ""), (.GET, "/v1/apps/bank/hosts", ""), (.DELETE, next, ""),
            ]
            for (method, target, body) in costly {
                #expect(try await status(method, target, "administer", body) == 429, "\(method) \(target)")
            }
            #expect(try await status(.GET, path, "administer") == 200)
            #expect(try await status(.GET, unannounced, "propose") == 404)
            // A second later there is one more.
            hand.value.withLock { $0 += 1_000_000_000 }
            #expect(try await status(.GET, unannounced, "administer") == 404)
            #expect(try await status(.GET, unannounced, "administer") == 429)
            // So is what was refused for want of a turn.
            try await site.world.approve(change)
            #expect(try await status(.POST, "\(path)/publish", "administer") == 429)
            #expect(site.world.publisher.live.current.documents.isEmpty)
            hand.value.withLock { $0 += 1_000_000_000 }
            #expect(try await status(.POST, "\(path)/publish", "administer") == 200)
            try await site.world.everybodyFollows()
        }
    }

    @Test("The token's text is in no file of the server, and in no answer")
    func leaks() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.propose()
            try await site.approve(change)
            let audit = try await site.call("GET", "/v1/audit", token: "every").body
            #expect(audit.contains("token administer") || audit.contains("\"added\""))
            var texts = [Data(audit.utf8)]
            for file in try FileManager.default.contentsOfDirectory(
                at: site.world.folder, includingPropertiesForKeys: nil)
            where !file.hasDirectoryPath {
                texts.append(try Data(contentsOf: file))
            }
            #expect(texts.count >= 3)
            for token in site.tokens.values {
                let hex = token.secretText.dropFirst("holdfast_".count)
                for text in texts { #expect(text.range(of: Data(hex.utf8)) == nil) }
            }
        }
    }
}
