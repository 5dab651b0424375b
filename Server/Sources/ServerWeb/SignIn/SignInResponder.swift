import Holdfast
import NIOCore
package import NIOHTTP1
package import PinPublication
package import ServerApprovals
package import ServerFoundation
package import ServerHTTP
package import ServerStore

/// Answers the script of the pages: sign-in, registration of passkeys, and approvals. All evidence is verified again
/// where it is used; the checks here only keep out other pages and strangers.
///
/// Each call must come from a page of this server, as the browser states in `Origin`. Calls with a session also send
/// back the CSRF token of its pages and count against its rate; other calls count against their source's rate.
package struct SignInResponder: RefusingResponder, Sendable {
    package let publisher: Publisher
    /// The origin of the pages.
    package let party: RelyingParty
    package let sessions: PageSessions
    private let rates: SignInRates
    private let seal: CeremonySeal

    package var catalog: Catalog { publisher.catalog }

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - party: the origin of the pages.
    ///   - rates: limits how often clients may call.
    package init(_ publisher: Publisher, at party: RelyingParty, rates: SignInRates = SignInRates()) {
        self.publisher = publisher
        self.party = party
        self.rates = rates
        seal = CeremonySeal(publisher.secret, server: publisher.catalog.server)
        sessions = PageSessions(publisher.catalog)
    }

    /// Answers a call; nil for any other request.
    package func answer(_ request: ListenerRequest) async -> ListenerAnswer? {
        guard request.head.method == .POST, let target = try? RequestTarget(request.head.uri.utf8),
            let route = SignInRoute(path: target.path)
        else { return nil }
        do throws(AdministrationError) {
            guard target.fields.isEmpty else {
                throw Self.refused(
                    .badRequest, .badRequest, of: "query", expected: "none", "Send everything in the body.")
            }
            try requireOwnPage(request)
            return try await call(route, request)
        } catch {
            return error.answer
        }
    }

    private func call(
        _ route: SignInRoute, _ request: ListenerRequest
    ) async throws(AdministrationError) -> ListenerAnswer {
        switch route {
        case .signOut:
            try takeTurn(request)
            return try await signOut(request)
        case .signIn(let step):
            var body = try Self.body(request)
            try takeTurn(request)
            return try await step == .begin ? beginSignIn(&body) : finishSignIn(&body, request)
        case .invitation(let id, let step):
            var body = try Self.body(request)
            try takeTurn(request)
            return try await step == .begin ? beginRegistration(id, &body) : finishRegistration(id, &body, request)
        case .verdict(let app, let change, let verdict, let step):
            var body = try Self.body(request)
            try takeTurn(request)
            let session = try await session(request, &body)
            guard session.viewer.sees(app) else { throw Self.missing(change, of: app) }
            var answer =
                try await step == .begin
                ? beginVerdict(verdict, change, of: app, &body)
                : finishVerdict(verdict, change, of: app, &body)
            answer.caller = session.actor
            return answer
        case .statement(let step):
            var body = try Self.body(request)
            try takeTurn(request)
            let session = try await session(request, &body)
            var answer = try await step == .begin ? beginStatement(&body) : finishStatement(&body)
            answer.caller = session.actor
            return answer
        }
    }

    private static func body(_ request: ListenerRequest) throws(AdministrationError) -> SignInBody {
        try AdministrationResponder.requireJSON(request)
        do throws(ServerError) {
            return try SignInBody(Array(request.body.readableBytesView))
        } catch {
            throw AdministrationError(
                .badRequest, .badRequest, of: "body", expected: error.expected, found: error.found,
                remedy: "Send one object of JSON, each field once.")
        }
    }

    // MARK: Signing in and out

    private func beginSignIn(_ body: inout SignInBody) async throws(AdministrationError) -> ListenerAnswer {
        try reading { [body] () throws(ServerError) in try body.finish() }
        let ceremony = try await refusing { [catalog] () async throws(ServerError) in
            var generator = SystemRandomNumberGenerator()
            return try await catalog.beginSignIn(using: &generator)
        }
        return asking(ceremony.challenge, [:], keeping: ceremony)
    }

    private func finishSignIn(
        _ body: inout SignInBody, _ request: ListenerRequest
    ) async throws(AdministrationError) -> ListenerAnswer {
        let ceremony = try ceremony(request)
        let (assertion, credential) = try reading { () throws(ServerError) in
            let read = try body.assertion()
            try body.finish()
            return read
        }
        let token = try await refusing { [sessions] () async throws(ServerError) in
            var generator = SystemRandomNumberGenerator()
            return try await sessions.begin(assertion, with: credential, answering: ceremony, using: &generator)
        }
        return AdministrationResponder.json(
            [("location", .text("/"))],
            headers: [
                PageSessions.setting(PageSessions.cookie, token, for: Catalog.sessionSpan),
                PageSessions.forgetting(PageSessions.visitorCookie),
            ])
    }

    /// Signs out with a form, so that it works without a script.
    private func signOut(_ request: ListenerRequest) async throws(AdministrationError) -> ListenerAnswer {
        let fields = Array(request.body.readableBytesView.prefix(256))
        let prefix = Array("csrf=".utf8)
        guard let session = try await find(request) else { throw Self.noSession }
        guard fields.starts(with: prefix), session.csrf.isSame(as: fields.dropFirst(prefix.count)) else {
            throw Self.strangePage
        }
        try await refusing { [sessions] () async throws(ServerError) in try await sessions.end(session) }
        var answer = ListenerAnswer(
            .seeOther, body: ByteBuffer(),
            headers: [
                ("Location", "/signin"), ("Cache-Control", "no-store"), PageSessions.forgetting(PageSessions.cookie),
            ])
        answer.caller = session.actor
        return answer
    }

    // MARK: Authorization

    /// Browsers state which page sent a `POST` (Fetch 3.1), and pages cannot change that. A form of a page without a
    /// referrer has the origin `null`; then another header states whether it is of this server (Fetch Metadata 2.3).
    func requireOwnPage(_ request: ListenerRequest) throws(AdministrationError) {
        let (origin, site) = (request.header("Origin") ?? "", request.header("Sec-Fetch-Site") ?? "")
        let isForm = origin.utf8.elementsEqual("null".utf8) && site.utf8.elementsEqual("same-origin".utf8)
        guard isForm || origin.utf8.elementsEqual(party.origin.utf8) else {
            throw Self.refused(
                .forbidden, .forbidden, of: "Origin", expected: party.origin,
                "Open the page at \(party.origin), and try there.")
        }
    }

    func takeTurn(_ request: ListenerRequest) throws(AdministrationError) {
        let wait =
            if let session = sessions.known(request) { rates.take(session: session) } else {
                rates.take(request.source)
            }
        if let wait { throw AdministrationResponder.tooMany(wait) }
    }

    package func find(_ request: ListenerRequest) async throws(AdministrationError) -> PageSession? {
        try await refusing { [sessions] () async throws(ServerError) in try await sessions.find(request) }
    }

    private func session(
        _ request: ListenerRequest, _ body: inout SignInBody
    ) async throws(AdministrationError) -> PageSession {
        guard let session = try await find(request) else { throw Self.noSession }
        let csrf = try reading { () throws(ServerError) in try body.csrf() }
        guard session.csrf.isSame(as: csrf) else { throw Self.strangePage }
        return session
    }

    /// The ceremony that the browser answers, issued by this server or another one with the same secret.
    package func ceremony(_ request: ListenerRequest) throws(AdministrationError) -> PasskeyCeremony {
        let value = PageSessions.value(PageSessions.visitorCookie, of: request)
        guard let ceremony = value.flatMap({ seal.ceremony(in: $0) }) else {
            throw AdministrationError(
                ServerError(
                    .notForThis, of: "passkey", expected: "the browser that was asked", found: "another one",
                    remedy: "Load the page, and begin again."))
        }
        return ceremony
    }

    /// The same error as for a change that does not exist, so that proposals of other apps are not revealed.
    private static func missing(_ change: RandomID, of app: AppName) -> AdministrationError {
        AdministrationError(
            ServerError(.notFound, of: "change", expected: "a change of \(app)", found: "\(change)"))
    }

    static var noSession: AdministrationError {
        refused(.unauthorized, .unauthorized, of: "session", expected: "a valid session", "Sign in again.")
    }

    static var strangePage: AdministrationError {
        refused(
            .forbidden, .forbidden, of: "csrf", expected: "the token of this session's pages",
            "Load the page again, and try there.")
    }

    package static func refused(
        _ status: HTTPResponseStatus, _ code: AdministrationError.Code, of field: String, expected: String,
        _ remedy: String
    ) -> AdministrationError {
        AdministrationError(status, code, of: field, expected: expected, found: "another, or none", remedy: remedy)
    }

    // MARK: Answers

    /// The response with a challenge for the browser.
    /// - Parameter ceremony: the ceremony to store in the browser; nil if the session identifies the person.
    package func asking(
        _ challenge: PasskeyChallenge, _ members: [String: CanonicalJSON], keeping ceremony: PasskeyCeremony? = nil
    ) -> ListenerAnswer {
        var all = members
        all["challenge"] = .text(Base64URL.encode(challenge.bytes))
        all["party"] = .text(party.id)
        all["milliseconds"] = .integer(PasskeyCeremony.span * 1_000)
        return AdministrationResponder.json(
            all.map { ($0.key, $0.value) },
            headers: ceremony.map { [PageSessions.asking(seal.value(of: $0))] } ?? [])
    }
}
