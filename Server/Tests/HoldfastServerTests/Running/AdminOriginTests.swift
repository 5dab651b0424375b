import Foundation
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Where the pages are", .timeLimit(.minutes(5)))
struct AdminOriginTests {
    private static let origin = "https://pins.example.com"

    private static func isOfPasskeys(_ words: String) -> Bool { words.hasPrefix("passkeys of ") }

    private func begin(_ server: ServingProcess, from origin: String) async throws -> RawAnswer {
        let lines = [
            "POST /signin/begin HTTP/1.1", "Host: pins.example.com", "Connection: close", "Origin: \(origin)",
            "Content-Type: application/json", "Content-Length: 2",
        ]
        let request = lines.map { $0 + "\r\n" }.joined() + "\r\n{}"
        return RawAnswer(try await RawClient(port: server.administration).exchange(request))
    }

    @Test("serve lets people sign in where it is told that the pages are, notes it, and says when that has changed")
    func serving() async throws {
        try await ServeSite.run { site in
            let without = try await ServingProcess.start(site)
            #expect(try await begin(without, from: Self.origin).status == 404)
            await without.stop()
            #expect(site.open.catalog.pages == nil)

            let first = try await ServingProcess.start(site, ["--no-watch", "--admin-origin", Self.origin])
            let answer = try await begin(first, from: Self.origin)
            #expect(answer.status == 200 && answer.json["party"] as? String == "pins.example.com", "\(answer.text)")
            #expect(try await begin(first, from: "https://example.com").status == 403)
            #expect(!first.text.contains("the pages were at"))
            // The pages are there, with their script, and show nothing to a visitor who is not signed in.
            let client = RawClient(port: first.administration)
            #expect(try await client.get("/signin").body.contains(#"data-passkey="sign-in""#))
            #expect(
                try await client.get("/passkeys.js").body.utf8.elementsEqual(ServerWeb.PackageResources.passkeys_js))
            #expect(try await client.get("/").header("Location") == "/signin")
            await first.stop()
            // The variable counts as the flag does.
            let second = try await ServingProcess.start(
                site, environment: ["HOLDFAST_SERVER_ADMIN_ORIGIN": "https://example.com"])
            try await second.says("the pages were at \(Self.origin) and are at https://example.com")
            #expect(try await begin(second, from: "https://example.com").status == 200)
            await second.stop()
            let entries = try await site.open.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }
            #expect(
                entries.filter { $0.event == .pages }.map { $0.facts["origin"] }
                    == [Self.origin, "https://example.com"])
            #expect(site.open.catalog.pages?.origin == "https://example.com")
        }
    }

    @Test("What browsers would not take as the origin of a passkey is refused, and the machine itself needs no TLS")
    func settings() async throws {
        func origin(_ text: String) async throws -> String? {
            try await ServeSettings(flags: [.adminOrigin: text], environment: [:], file: nil).adminOrigin?.origin
        }
        for text in ["http://pins.example.com", "https://pins.example.com/", "https://192.0.2.1", "pins.example.com"] {
            let error = await expectError(.invalidValue) { try await origin(text) }
            #expect(error?.subject == "admin-origin")
        }
        for text in [Self.origin, "https://pins.example.com:8443", "http://localhost:8081"] {
            #expect(try await origin(text) == text)
        }
        #expect(try await ServeSettings(flags: [:], environment: [:], file: nil).adminOrigin == nil)
    }

    @Test(
        "doctor says whose passkeys were made elsewhere once the pages have moved, and a backup does not mind"
    )
    func moved() async throws {
        try await World.run { world in
            let desk = PasskeyDesk(world: world)
            let passkey = try await desk.register(SoftPasskey())
            func faults() async throws -> [String] {
                try await world.publisher.examine().filter(\.isFault).map(\.words).filter(Self.isOfPasskeys)
            }
            #expect(try await world.catalog.notePages(at: SoftPasskey.party, by: "serve") == nil)
            #expect(try await faults().isEmpty)
            let other = try RelyingParty(origin: "https://example.com")
            #expect(try await world.catalog.notePages(at: other, by: "serve") == SoftPasskey.party)
            #expect(try await world.catalog.notePages(at: other, by: "serve") == nil)
            let found = try await faults()
            #expect(found.count == 1)
            for words in ["dave", Self.origin, other.origin, "invite them again", "passkey remove"] {
                #expect(found.first?.contains(words) == true, "\(found)")
            }
            let backup = try await world.publisher.examine(isInPlace: false).map(\.words)
            #expect(!backup.contains(where: Self.isOfPasskeys))
            // The given origin counts more than the recorded one.
            let asked = try await world.publisher.examine(pages: SoftPasskey.party).map(\.words)
            #expect(!asked.contains(where: Self.isOfPasskeys))
            try await world.catalog.removePasskey(passkey.key.identity, by: "operator")
            #expect(try await faults().isEmpty)
        }
    }

    @Test("Proxies before the listener for apps forward nothing to that for people, which has its own")
    func proxies() async throws {
        let apps = try await ServeSettings(flags: [.behindProxy: "127.0.0.1/32"], environment: [:], file: nil)
        #expect(apps.adminListen.proxies == .none && apps.listen.proxies.blocks.count == 1)
        let people = try await ServeSettings(
            flags: [:], environment: ["HOLDFAST_SERVER_ADMIN_BEHIND_PROXY": "127.0.0.1/32"], file: nil)
        #expect(people.adminListen.proxies == apps.listen.proxies && people.listen.proxies == .none)
        #expect(people.adminListen.isPrivate)
        let without = try await ServeSettings(flags: [:], environment: [:], file: nil)
        #expect(without.adminListen.proxies == .none)
    }
}
