import Foundation
import NIOCore
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The requests of the pages' script, from browsers with software authenticators, to a world's administration
/// on loopback.
struct SignInDesk: Sendable {
    let world: World
    let port: Int

    static let origin = "https://pins.example.com"

    private var people: PasskeyDesk { PasskeyDesk(world: world) }

    /// Runs a test with a listener.
    static func run(
        rates: SignInRates = SignInRates(), _ body: (SignInDesk) async throws -> Void
    ) async throws {
        try await World.run { world in
            let responder = SignInResponder(world.publisher, at: try SoftPasskey.party, rates: rates)
            try await AdministrationSite.listening(
                for: world.publisher, beside: [{ await responder.answer($0) }]
            ) { port in
                try await body(SignInDesk(world: world, port: port))
            }
        }
    }

    /// A session in a browser.
    struct Browser: Sendable {
        let token: AccessToken

        var cookie: String { "\(PageSessions.cookie)=\(token.secretText)" }
        var csrf: String { CSRFToken(of: token).text }
    }

    /// Calls as the script does.
    /// - Parameters:
    ///   - cookies: those of the browser.
    ///   - origin: the page that calls, as the browser says; nil for a program that says nothing.
    func post(
        _ path: String, _ body: [String: Any], cookies: [String] = [], origin: String? = origin,
        type: String = "application/json", from address: String = "127.0.0.1"
    ) async throws -> RawAnswer {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        return try await post(path, text: text, cookies: cookies, origin: origin, type: type, from: address)
    }

    /// Sends a body as it is.
    /// - Parameter site: whose page the browser says that it is; nil for an old one.
    func post(
        _ path: String, text: String, cookies: [String] = [], origin: String? = origin,
        type: String = "application/json", from address: String = "127.0.0.1", site: String? = nil
    ) async throws -> RawAnswer {
        var lines = ["POST \(path) HTTP/1.1", "Host: pins.example.com", "Connection: close", "Content-Type: \(type)"]
        lines.append("Content-Length: \(text.utf8.count)")
        if !cookies.isEmpty { lines.append("Cookie: \(cookies.joined(separator: "; "))") }
        if let origin { lines.append("Origin: \(origin)") }
        if let site { lines.append("Sec-Fetch-Site: \(site)") }
        let request = lines.map { $0 + "\r\n" }.joined() + "\r\n" + text
        return RawAnswer(try await RawClient(port: port, from: address).exchange(request))
    }

    /// The challenge that an answer asks a passkey to sign.
    static func challenge(_ answer: RawAnswer) throws -> PasskeyChallenge {
        let text = try #require(answer.json["challenge"] as? String, "\(answer.text)")
        return try #require(Base64URL.decode(text.utf8).flatMap { PasskeyChallenge(bytes: $0) })
    }

    /// The cookie that an answer gave a visitor.
    static func visitor(_ answer: RawAnswer) throws -> String {
        "\(PageSessions.visitorCookie)=\(try #require(answer.cookie(PageSessions.visitorCookie), "\(answer.text)"))"
    }

    /// The members that the script sends for an assertion.
    static func members(_ assertion: PasskeyAssertion, of id: [UInt8]) -> [String: Any] {
        [
            "credential": Base64URL.encode(id), "authenticatorData": Base64URL.encode(assertion.authenticatorData),
            "clientDataJSON": Base64URL.encode(assertion.clientDataJSON),
            "signature": Base64URL.encode(assertion.signature),
        ]
    }

    /// The members that the script sends for a new passkey.
    static func members(_ registration: PasskeyRegistration, _ token: AccessToken) -> [String: Any] {
        [
            "token": token.secretText, "attestationObject": Base64URL.encode(registration.attestationObject),
            "clientDataJSON": Base64URL.encode(registration.clientDataJSON),
        ]
    }

    /// Invites a person.
    /// - Returns: the token, and the path of the invitation.
    func invite(
        _ purpose: PasskeyPurpose = .signIn, seed: UInt64 = 41
    ) async throws -> (token: AccessToken, path: String) {
        let token = PasskeyDesk.token(seed)
        try await world.catalog.invite(PasskeyDesk.signed(people.invitation(token, purpose)))
        return (token, "/invitation/\(token.digest)")
    }

    /// Makes a passkey with an invitation.
    @discardableResult
    func register(
        _ passkey: SoftPasskey, _ invitation: (token: AccessToken, path: String)
    ) async throws -> RawAnswer {
        let asked = try await post("\(invitation.path)/begin", ["token": invitation.token.secretText])
        let made = try passkey.registration(for: Self.challenge(asked))
        return try await post(
            "\(invitation.path)/finish", Self.members(made, invitation.token), cookies: [Self.visitor(asked)])
    }

    /// Invites a person, registers their passkey and signs in.
    func signIn(_ passkey: SoftPasskey = SoftPasskey(number: 31, id: [31])) async throws -> Browser {
        try await register(passkey, invite(seed: 97))
        return try await signInAgain(passkey)
    }

    func signInAgain(_ passkey: SoftPasskey) async throws -> Browser {
        let asked = try await post("/signin/begin", [:])
        let assertion = try passkey.assertion(for: Self.challenge(asked))
        let answer = try await post(
            "/signin/finish", Self.members(assertion, of: passkey.id), cookies: [Self.visitor(asked)])
        let text = try #require(answer.cookie(PageSessions.cookie), "\(answer.text)")
        return Browser(token: try #require(AccessToken(text.utf8)))
    }

    /// Approvers let the passkeys of ``PasskeyStory`` approve, which were registered here.
    func letPasskeysApprove(_ rule: PasskeyTerms.Rule = .keyRequired) async throws {
        try await register(PasskeyStory.phone, invite(.approval, seed: 91))
        try await register(PasskeyStory.stick, invite(.approval, seed: 93))
        let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head, rule)
        var stick = PasskeyStory.stick
        stick.counter += 1
        try await world.catalog.append(PasskeyStory.signed(statement, [PasskeyStory.phone, stick]))
    }

    /// Proposes something of two formats.
    func propose() async throws -> RandomID {
        try await world.propose(world.draft { $0.formats = World.fewFormats }).change
    }

    /// Sends a verdict about a change, as a person at its page does.
    /// - Parameter signing: what the passkey signs instead of what the server asks for.
    func say(
        _ verdict: ApprovalText.Verdict, _ change: RandomID, _ passkey: SoftPasskey, in browser: Browser,
        signing other: (PasskeyChallenge) -> PasskeyChallenge = { $0 }
    ) async throws -> RawAnswer {
        let path = "/changes/bank/\(change)/\(verdict.rawValue)"
        let asked = try await post("\(path)/begin", ["csrf": browser.csrf], cookies: [browser.cookie])
        let assertion = try passkey.assertion(for: other(try Self.challenge(asked)))
        var members = Self.members(assertion, of: passkey.id)
        members["csrf"] = browser.csrf
        members["text"] = asked.json["text"]
        return try await post("\(path)/finish", members, cookies: [browser.cookie])
    }
}

extension RawAnswer {
    /// The value of a cookie that the answer sets; nil if it does not.
    func cookie(_ name: String) -> String? {
        let prefix = "Set-Cookie: \(name)="
        let line = head.split(separator: "\r\n").first { $0.hasPrefix(prefix) }
        return line.map { String($0.dropFirst(prefix.count).prefix { $0 != ";" }) }
    }
}
