import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("The pages' addresses", .timeLimit(.minutes(5)))
struct PageResponderTests {
    @Test("Somebody who is not signed in is sent to sign in, from every page")
    func strangers() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            for address in desk.addresses(Story.id(1)) + ["/apps/nothing", "/audit?event=seen"] {
                let answer = try #require(await desk.ask(address, isSignedIn: false), "\(address)")
                #expect(answer.status == .seeOther && answer.header("Location") == "/signin", "\(address)")
                #expect(answer.body.readableBytes == 0)
            }
            let greeting = try #require(await desk.ask("/signin", isSignedIn: false))
            #expect(greeting.status == .ok && String(buffer: greeting.body).contains("data-passkey=\"sign-in\""))
            #expect(await desk.ask("/signin")?.header("Location") == "/")
            let invitation = "/invitation/\(Digest(of: [1]))"
            let page = String(buffer: try #require(await desk.ask(invitation, isSignedIn: false)).body)
            #expect(page.contains("data-path=\"\(invitation)\"") && !page.contains("Sign out"))
        }
    }

    @Test("Every page, and every refusal, forbids browsers what is not the page's own")
    func headers() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            for address in ["/", "/apps/bank", "/apps/nothing", "/audit?event=nothing", "/people"] {
                let answer = try #require(await desk.ask(address))
                let policy = try #require(answer.header("Content-Security-Policy"), "\(address)")
                let rules = Set(policy.split(separator: "; ").map(String.init))
                #expect(
                    rules == [
                        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'",
                        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
                    ])
                #expect(answer.header("X-Content-Type-Options") == "nosniff")
                #expect(answer.header("Referrer-Policy") == "no-referrer")
                #expect(answer.header("Cross-Origin-Opener-Policy") == "same-origin")
                #expect(answer.header("Cache-Control") == "no-store")
                #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
            }
        }
    }

    @Test("The style sheet has an address of its own for each version, which caches keep")
    func style() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            let html = try await desk.html("/")
            let address = try #require(html.firstMatch(of: /href="(\/style-[0-9a-f]{16}\.css)"/)).1
            let style = try #require(await desk.ask(String(address), isSignedIn: false))
            #expect(style.status == .ok && style.body.readableBytes > 1_000)
            #expect(style.header("Cache-Control") == "public, max-age=31536000, immutable")
            #expect(style.header("Content-Type") == "text/css; charset=utf-8")
            let tag = try #require(style.header("ETag"))
            for known in [tag, "W/\(tag)"] {
                let again = await desk.ask(String(address), isSignedIn: false, headers: [("If-None-Match", known)])
                #expect(again?.status == .notModified && again?.body.readableBytes == 0)
            }
            let other = await desk.ask(String(address), isSignedIn: false, headers: [("If-None-Match", "\"other\"")])
            #expect(other?.status == .ok)
            #expect(await desk.ask("/style-0123456789abcdef.css", isSignedIn: false)?.status == .notFound)
            let script = try #require(await desk.ask("/passkeys.js", isSignedIn: false))
            #expect(Array(script.body.readableBytesView) == PageDesk.script)
            #expect(script.header("Content-Type") == "text/javascript; charset=utf-8")
            #expect(script.header("Cache-Control") == "no-cache")
        }
    }

    @Test("Pages only show: everything but GET and HEAD is refused, and what is no page is somebody else's")
    func methods() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            #expect(await desk.ask("/", method: .HEAD)?.status == .ok)
            for method in [HTTPMethod.POST, .PUT, .DELETE] {
                let answer = await desk.ask("/apps/bank", method: method)
                #expect(answer?.status == .methodNotAllowed && answer?.header("Allow") == "GET, HEAD", "\(method)")
            }
            for address in [
                "/v1/apps", "/metrics", "/health/live", "/openapi.yaml", "/signin/begin", "/signout", "/apps",
                "/apps/bank/", "/apps/bank/changes/\(Story.id(1))/approve", "/admin/apps", "/invitation/1", "/app/init",
                "/apps/b", "//", "/changes/bank/\(Story.id(1))/approve/begin",
            ] {
                #expect(await desk.ask(address) == nil, "\(address)")
            }
        }
    }

    @Test("Whoever may see one app sees nothing of others, and not that they are there")
    func otherApps() async throws {
        try await World.run { world in
            let other = try await world.addApp("shop")
            var viewer = PageDesk.viewer
            viewer.apps = [other.app]
            let desk = try PageDesk(world, viewer: viewer)
            let overview = try await desk.html("/")
            #expect(overview.contains("/apps/shop") && !overview.contains("bank"))
            #expect(!overview.contains("/audit"))
            let missing = try #require(await desk.ask("/apps/nothing"))
            #expect(missing.status == .notFound)
            for address in [
                "/apps/bank", "/apps/bank/reports", "/apps/bank/hosts/\(World.host)",
                "/apps/bank/changes/\(other.change)", "/audit",
            ] {
                let answer = try #require(await desk.ask(address))
                #expect(answer.status == .notFound && answer.body == missing.body, "\(address)")
            }
            // A change is a page of its own app alone.
            let both = try PageDesk(world)
            #expect(await both.ask("/apps/bank/changes/\(other.change)")?.status == .notFound)
            #expect(await both.ask("/apps/shop/changes/\(other.change)")?.status == .ok)
        }
    }

    @Test("Fields of an address that the page does not know, or twice, are refused")
    func queries() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            for address in [
                "/?a=b", "/apps/bank?days=1", "/apps/bank/reports?days=0", "/apps/bank/reports?days=1&days=7",
                "/audit?event=nothing", "/audit?before=-1", "/audit?app=%00", "/apps/bank/hosts/\(World.host)?port=0",
            ] {
                #expect(await desk.ask(address)?.status == .badRequest, "\(address)")
            }
            for address in [
                "/apps/bank/reports?days=2", "/apps/bank/hosts/other.example.com",
                "/apps/bank/hosts/\(World.host)?port=8443",
            ] {
                #expect(await desk.ask(address)?.status == .notFound, "\(address)")
            }
            // The query of a form in which nothing was chosen.
            #expect(await desk.ask("/audit?event=&app=")?.status == .ok)
        }
    }

    @Test("A host with an address of version 6 has a page, which links lead to")
    func addressHost() async throws {
        try await World.run { world in
            let host = try CatalogHost(name: "2001:db8::7", port: 8_443)
            try await world.catalog.set(host, of: world.app, by: "operator")
            let desk = try PageDesk(world)
            let address = PageLink.host(host, of: world.app)
            #expect(address == "/apps/bank/hosts/-?name=2001%3adb8%3a%3a7&port=8443")
            #expect(try await desk.html("/apps/bank").contains("href=\"\(address.replacing("&", with: "&amp;"))\""))
            #expect(try await desk.html(address).contains("<h1>2001:db8::7:8443</h1>"))
        }
    }

    @Test("What a database says is for the log, and on no page")
    func broken() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE app_setting SET octets = x'00'")
            }
            let answer = try #require(await desk.ask("/apps/bank"))
            #expect(answer.status == .serviceUnavailable && answer.header("Retry-After") == "30")
            let html = String(buffer: answer.body)
            #expect(html.contains("brokenChain") && html.contains("doctor") && !html.contains("app_setting"))
        }
    }

    @Test("Where one person is enough, every page says so")
    func oneApprover() async throws {
        for number in 1...2 {
            try await World.run(number: number) { world in
                let desk = try PageDesk(world)
                for address in ["/", "/apps/bank", "/people", "/audit", "/apps/bank/reports"] {
                    let html = try await desk.html(address)
                    #expect(html.contains("One person is enough") == (number == 1), "\(address)")
                }
            }
        }
    }

    @Test("Where passkeys alone are enough, every page says so, also to those who are not signed in")
    func passkeysOnly() async throws {
        for rule in [PasskeyTerms.Rule.passkeysOnly, .keyRequired] {
            try await World.run { world in
                let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head, rule)
                let desk = try PageDesk(world)
                #expect(try await !desk.html("/").contains("passkeys alone"))
                try await world.catalog.append(PasskeyStory.signed(statement))
                let open = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
                let invitation = "/invitation/\(Digest(of: [1]))"
                for address in desk.addresses(open) + ["/apps/nothing", "/signin", invitation] {
                    let isSignedIn = address != "/signin" && address != invitation
                    let html = String(buffer: try #require(await desk.ask(address, isSignedIn: isSignedIn)).body)
                    let says = html.contains("Changes may be approved by passkeys alone, which do not show what")
                    #expect(says == (rule == .passkeysOnly), "\(address)")
                }
            }
        }
    }
}
