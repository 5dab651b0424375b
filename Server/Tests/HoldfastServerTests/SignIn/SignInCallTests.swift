import Foundation
import HoldfastTesting
import Synchronization
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Signing in over HTTP", .timeLimit(.minutes(5)))
struct SignInCallTests {
    @Test("Somebody who was invited registers a passkey, signs in with it and signs out, and the server keeps no token")
    func course() async throws {
        try await SignInDesk.run { desk in
            let invitation = try await desk.invite()
            let phone = SoftPasskey()
            let made = try await desk.register(phone, invitation)
            #expect(made.status == 201 && made.json["person"] as? String == "dave", "\(made.text)")
            // The link is used.
            let again = try await desk.post("\(invitation.path)/begin", ["token": invitation.token.secretText])
            again.isError(404, .notFound, field: "invitation")

            let asked = try await desk.post("/signin/begin", [:])
            #expect(asked.json["party"] as? String == "pins.example.com")
            #expect(try SignInDesk.challenge(asked).form == .signIn)
            let browser = try await desk.signInAgain(phone)
            let session = try #require(try await desk.world.catalog.session(of: browser.token))
            #expect(session.passkey.person == "dave")
            let rows = try await desk.world.engine.read { session throws(ServerError) in
                try session.run("SELECT digest FROM session").map { row throws(ServerError) in try row.bytes(0) }
            }
            #expect(rows == [browser.token.digest.bytes])

            // As a form of a page without a referrer sends it.
            let out = try await desk.post(
                "/signout", text: "csrf=\(browser.csrf)", cookies: [browser.cookie], origin: "null",
                type: "application/x-www-form-urlencoded", site: "same-origin")
            #expect(out.status == 303 && out.header("Location") == "/signin", "\(out.text)")
            #expect(out.cookie(PageSessions.cookie) == "")
            #expect(try await desk.world.catalog.session(of: browser.token) == nil)
            let late = try await desk.post(
                "/approvers/sign/begin", ["csrf": browser.csrf, "statement": ""], cookies: [browser.cookie])
            late.isError(401, .unauthorized, field: "session")
        }
    }

    @Test("The cookie of a session is for this host, TLS and no script, and no other page sends it")
    func cookies() async throws {
        try await SignInDesk.run { desk in
            try await desk.register(SoftPasskey(), desk.invite())
            let asked = try await desk.post("/signin/begin", [:])
            let answer = try await desk.post(
                "/signin/finish",
                SignInDesk.members(SoftPasskey().assertion(for: SignInDesk.challenge(asked)), of: SoftPasskey().id),
                cookies: [SignInDesk.visitor(asked)])
            let lines = (asked.head + "\r\n" + answer.head).split(separator: "\r\n").filter {
                $0.hasPrefix("Set-Cookie: ")
            }
            #expect(lines.count == 3)
            for line in lines {
                #expect(line.hasPrefix("Set-Cookie: __Host-holdfast"))
                for attribute in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
                    #expect(line.contains(attribute), "\(line)")
                }
            }
            // Two cookies of the name count as none: an attacker may have set one.
            let token = try #require(answer.cookie(PageSessions.cookie))
            let twice = "\(PageSessions.cookie)=\(token); \(PageSessions.cookie)=\(token)"
            let browser = SignInDesk.Browser(token: try #require(AccessToken(token.utf8)))
            for (cookies, status) in [([twice], 401), (["a=b", browser.cookie], 422), ([], 401)] {
                let answer = try await desk.post(
                    "/approvers/sign/begin", ["csrf": browser.csrf, "statement": "x"], cookies: cookies)
                #expect(answer.status == status, "\(answer.text)")
            }
        }
    }

    @Test("A call from another page, without the session's token, or of another type changes nothing")
    func strangers() async throws {
        try await SignInDesk.run { desk in
            let browser = try await desk.signIn()
            let second = SoftPasskey(number: 33, id: [33])
            try await desk.register(second, desk.invite(seed: 99))
            let other = try await desk.signInAgain(second)
            let head = desk.world.catalog.ledger.chain.head
            for origin in ["https://example.com", "https://pins.example.com:8443", "null", nil] {
                let begin = try await desk.post("/signin/begin", [:], origin: origin)
                begin.isError(403, .forbidden, field: "Origin")
                let out = try await desk.post(
                    "/signout", text: "csrf=\(browser.csrf)", cookies: [browser.cookie], origin: origin,
                    type: "application/x-www-form-urlencoded", site: "same-site")
                out.isError(403, .forbidden, field: "Origin")
            }
            for csrf in [other.csrf, "", String(browser.csrf.dropLast()), browser.csrf + "A"] {
                let out = try await desk.post(
                    "/signout", text: "csrf=\(csrf)", cookies: [browser.cookie],
                    type: "application/x-www-form-urlencoded")
                out.isError(403, .forbidden, field: "csrf")
                let call = try await desk.post(
                    "/approvers/sign/begin", ["csrf": csrf, "statement": ""], cookies: [browser.cookie])
                call.isError(403, .forbidden, field: "csrf")
            }
            // A request that a form of another page could send without asking first.
            let form = try await desk.post("/signin/begin", text: "{}", type: "text/plain")
            form.isError(415, .unsupportedMediaType)
            let more = try await desk.post("/signin/begin", ["next": "https://example.com"])
            more.isError(422, .malformed, field: "next")
            let query = try await desk.post("/signin/begin?a=b", [:])
            query.isError(400, .badRequest, field: "query")
            // Challenges are in no audit, and nothing else was written.
            #expect(desk.world.catalog.ledger.chain.head == head)
            #expect(try await desk.world.catalog.sessions().count == 2)
        }
    }

    @Test("A challenge is answered once, by the browser that was asked, and a session's token is a new one")
    func challenges() async throws {
        try await SignInDesk.run { desk in
            let phone = SoftPasskey()
            try await desk.register(phone, desk.invite())
            let asked = try await desk.post("/signin/begin", [:])
            let members = SignInDesk.members(try phone.assertion(for: SignInDesk.challenge(asked)), of: phone.id)
            let visitor = try SignInDesk.visitor(asked)
            let nobody = try await desk.post("/signin/finish", members)
            nobody.isError(409, .notForThis, field: "passkey")
            let second = try await desk.post("/signin/begin", [:])
            let stranger = try await desk.post("/signin/finish", members, cookies: [SignInDesk.visitor(second)])
            stranger.isError(409, .notForThis)
            let good = try await desk.post("/signin/finish", members, cookies: [visitor])
            #expect(good.status == 200, "\(good.text)")
            #expect(good.cookie(PageSessions.cookie).map { !visitor.contains($0) } == true)
            let replayed = try await desk.post("/signin/finish", members, cookies: [visitor])
            replayed.isError(409, .notForThis, field: "passkey")
            #expect(try await desk.world.catalog.sessions().count == 1)
            // After two minutes the browser has forgotten it, and so has the server.
            let third = try await desk.post("/signin/begin", [:])
            desk.world.clock.advance(by: .seconds(121))
            let late = try await desk.post(
                "/signin/finish",
                SignInDesk.members(try phone.assertion(for: SignInDesk.challenge(third)), of: phone.id),
                cookies: [SignInDesk.visitor(third)])
            late.isError(409, .notForThis, field: "passkey")
        }
    }

    @Test("A source has forty calls saved and gets one in three seconds, and others have their own")
    func rates() async throws {
        let hand = ManualInstant()
        let rates = SignInRates(instant: { hand.value.withLock { $0 } })
        try await SignInDesk.run(rates: rates) { desk in
            func status(from address: String) async throws -> RawAnswer {
                try await desk.post("/signin/begin", [:], from: address)
            }
            for _ in 0..<40 {
                let answer = try await status(from: "127.0.0.1")
                #expect(answer.status == 200, "\(answer.text)")
            }
            let refused = try await status(from: "127.0.0.2")
            refused.isError(429, .tooManyRequests)
            #expect(refused.header("Retry-After") == "3")
            #expect(try await status(from: "127.0.1.1").status == 200)
            hand.value.withLock { $0 += 3_100_000_000 }
            #expect(try await status(from: "127.0.0.1").status == 200)
            #expect(try await status(from: "127.0.0.1").status == 429)
        }
    }

    @Test("The token of an invitation opens its own invitation only, and a passkey of another name or place is refused")
    func invitations() async throws {
        try await SignInDesk.run { desk in
            let (first, second) = (try await desk.invite(), try await desk.invite(seed: 43))
            let crossed = try await desk.post("\(second.path)/begin", ["token": first.token.secretText])
            crossed.isError(404, .notFound, field: "invitation")
            let digest = try await desk.post("\(first.path)/begin", ["token": "\(first.token.digest)"])
            digest.isError(422, .invalidValue, field: "token")
            for passkey in [SoftPasskey(partyID: "example.com"), SoftPasskey(origin: "https://example.com")] {
                let answer = try await desk.register(passkey, first)
                answer.isError(409, .notForThis)
            }
            let careless = try await desk.register(SoftPasskey(flags: [.userPresent]), first)
            careless.isError(422, .userNotVerified)
            #expect(try await desk.register(SoftPasskey(), first).status == 201)
            // An answer for one invitation is not valid for another.
            let asked = try await desk.post("\(second.path)/begin", ["token": second.token.secretText])
            let old = SignInDesk.members(
                try SoftPasskey(number: 22, id: [2]).registration(for: SignInDesk.challenge(asked)), second.token)
            let other = try await desk.post("\(second.path)/begin", ["token": second.token.secretText])
            let answer = try await desk.post("\(second.path)/finish", old, cookies: [SignInDesk.visitor(other)])
            answer.isError(409, .notForThis)
            #expect(try await desk.world.catalog.passkeys().count == 1)
        }
    }

    @Test("What is damaged on its way signs nobody in, and is answered")
    func damaged() async throws {
        let phone = SoftPasskey.ed25519
        var generator = SeededGenerator(seed: 39)
        let challenge = PasskeyChallenge.signIn(using: &generator)
        let good = try phone.assertion(for: challenge)
        let body = Array(try JSONSerialization.data(withJSONObject: SignInDesk.members(good, of: phone.id)))
        let (key, party) = (try phone.key, try SoftPasskey.party)
        let read = campaign(0x51A1, [body], count: mutants(inPartsOf: 4)) { mutant in
            var damaged = try SignInBody(mutant)
            let (assertion, id) = try damaged.assertion()
            try damaged.finish()
            _ = try assertion.verified(by: key, for: challenge, at: party)
            // Only the id, which is no secret, and what stands around the members may differ.
            #expect(assertion == good && (1...AuthenticatorData.maximumID).contains(id.count))
        }
        #expect(read < mutants(inPartsOf: 4))
    }
}
