import HoldfastSigning
import NIOCore
import NIOHTTP1
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
package import ServerHTTP
import ServerModel
import ServerStore

/// Answers submitted forms. Each form corresponds to a call of `/v1` or a command, for a viewer whose passkey
/// invitation allows it. No form approves or publishes anything.
package struct FormResponder: RefusingResponder, Sendable {
    /// Finds the session of a call.
    package let calls: SignInResponder
    /// Shows a form again with its errors.
    package let pages: PageResponder
    /// Limits how often a person may submit forms, as with a token.
    private let rates: AdministrationRates
    private let turns = EvaluationLimiter()

    private var publisher: Publisher { calls.publisher }
    private var catalog: Catalog { calls.publisher.catalog }

    /// - Parameters:
    ///   - calls: finds the session of a call.
    ///   - pages: shows a form again with its errors.
    ///   - rates: limits how often a person may submit forms, as with a token.
    package init(_ calls: SignInResponder, _ pages: PageResponder, rates: AdministrationRates = AdministrationRates()) {
        self.calls = calls
        self.pages = pages
        self.rates = rates
    }

    /// Answers a submitted form; nil for any other request.
    package func answer(_ request: ListenerRequest) async -> ListenerAnswer? {
        guard request.head.method == .POST, let target = try? RequestTarget(request.head.uri.utf8),
            let route = FormRoute(path: target.path)
        else { return nil }
        var session: PageSession?
        do throws(AdministrationError) {
            guard target.fields.isEmpty else {
                throw AdministrationError(
                    .badRequest, .badRequest, of: "query", expected: "none", found: "another",
                    remedy: "Load the form again, and send it from there.")
            }
            try calls.requireOwnPage(request)
            try calls.takeTurn(request)
            try Self.requireForm(request)
            guard let found = try await calls.find(request) else { throw SignInResponder.noSession }
            session = found
            let entries = try reading { () throws(ServerError) in
                try FormEntries(Array(request.body.readableBytesView), of: route)
            }
            guard found.csrf.isSame(as: entries.bytes("csrf")) else { throw SignInResponder.strangePage }
            try require(route, found.viewer)
            return await answer(route, entries, found)
        } catch {
            return await pages.refusal(error, to: session?.viewer)
        }
    }

    private func answer(_ route: FormRoute, _ entries: FormEntries, _ session: PageSession) async -> ListenerAnswer {
        do throws(FormRefusal) {
            var answer = PageAnswer.redirect(to: try await send(route, entries, session))
            answer.caller = session.actor
            return answer
        } catch {
            return await pages.form(route, entries, error, to: session.viewer)
        }
    }

    /// Requires the content type that browsers send for forms, and no content coding.
    private static func requireForm(_ request: ListenerRequest) throws(AdministrationError) {
        guard !request.head.headers.contains(name: "Content-Encoding"),
            ASCIIText.spells((request.header("Content-Type") ?? "").utf8, "application/x-www-form-urlencoded")
        else {
            throw AdministrationError(
                .unsupportedMediaType, .unsupportedMediaType, of: "Content-Type",
                expected: "application/x-www-form-urlencoded", found: "another, or none",
                remedy: "Send the form as browsers do.")
        }
    }

    /// An app that the viewer may not see is reported like one that does not exist.
    private func require(_ route: FormRoute, _ viewer: Viewer) throws(AdministrationError) {
        if let app = route.app, !viewer.sees(app) || !catalog.apps.contains(app) {
            throw AdministrationError(ServerError(.notFound, of: "app", expected: "an app of yours", found: "\(app)"))
        }
        guard route.isOpen(to: viewer) else {
            throw AdministrationError(
                .forbidden, .forbidden, of: "passkey", expected: "an invitation to \(route.scope.text)",
                found: "one to \(viewer.scope.text)\(viewer.seesEverything ? "" : " for certain apps")",
                remedy: "Ask the approvers for another invitation, or ask a person who has this permission.")
        }
    }

    // MARK: Actions

    /// - Returns: the path of the page that shows the result.
    private func send(
        _ route: FormRoute, _ entries: FormEntries, _ session: PageSession
    ) async throws(FormRefusal) -> String {
        switch route {
        case .app: try await addApp(entries, session)
        case .host(let app): try await addHost(app, entries, session)
        case .next(let app): try await announce(app, entries, session)
        case .change(let app): try await propose(app, entries, session)
        }
    }

    /// Does the same as `app add` and `app key`. The key is generated and sealed in this process and never leaves it.
    private func addApp(_ entries: FormEntries, _ session: PageSession) async throws(FormRefusal) -> String {
        guard let name = AppName(bytes: entries.bytes("name")) else {
            throw FormRefusal(
                "name", "2 to 255 letters, digits, hyphens and underscores, the first a letter or a digit",
                "another text")
        }
        guard let title = String(validating: entries.bytes("title"), as: UTF8.self), title.utf8.count <= 255 else {
            throw FormRefusal("title", "at most 255 bytes of text", "another text")
        }
        let staleness = try entries.number("staleness", in: 1...366) * 86_400
        let canary = try entries.number("canary", in: 0...168) * 3_600
        let anchors = try entries.certificates("anchors", "the authorities that the clients' systems trust, in PEM")
        let builds: [AppSettings.Build]? = entries.isChecked("unshipped") ? [] : nil
        try take(rates.takeCostly(session.actor))
        try await FormRefusal.about("anchors", ["app \(name)": "name", "display name": "title"]) {
            [catalog, publisher] () async throws(ServerError) in
            let settings = try AppSettings(staleness: staleness, canary: canary, anchors: anchors, builds: builds)
            guard publisher.secret != nil else { throw Publisher.noSecret }
            try await catalog.addApp(
                name, displayName: title.isEmpty ? "\(name)" : title, settings: settings, by: session.actor)
        }
        do throws(ServerError) {
            var generator = SystemRandomNumberGenerator()
            try await publisher.makeKey(of: name, by: session.actor, using: &generator)
        } catch {
            var refusal = FormRefusal(nil, AdministrationError(error))
            refusal.outcome = "The app was added, and has no key: make it with holdfast-server app key."
            throw refusal
        }
        return PageLink.app(name)
    }

    /// Does the same as `PUT /v1/apps/A/hosts/H`, but only for a new host.
    private func addHost(
        _ app: AppName, _ entries: FormEntries, _ session: PageSession
    ) async throws(FormRefusal) -> String {
        let (name, dial) = (entries.bytes("name"), entries.bytes("dial"))
        guard ContentHost.isName(name) else {
            throw FormRefusal("name", "the name of a host in lower case, or an address", "another text")
        }
        let port = try entries.number("port", in: 1...65_535)
        guard dial.isEmpty || ASCIIText.isPrintable(dial, 1...255) else {
            throw FormRefusal("dial", "an address, or nothing", "another text")
        }
        guard let renewal = CatalogHost.Renewal(bytes: entries.bytes("renewal")) else {
            throw FormRefusal("renewal", "one of those", "another text")
        }
        try take(rates.takeAnnouncement(session.actor))
        return try await FormRefusal.about("name", ["dial": "dial"]) { [catalog] () async throws(ServerError) in
            let host = try CatalogHost(
                name: String(decoding: name, as: UTF8.self), port: port,
                dial: dial.isEmpty ? nil : String(decoding: dial, as: UTF8.self), renewal: renewal,
                hasOneKeyKind: entries.isChecked("onekind"))
            let label = host.label
            guard try await !catalog.hosts(of: app).contains(where: { $0.label.utf8.elementsEqual(label.utf8) }) else {
                throw ServerError(
                    .constraint, of: "host", expected: "a new host", found: "one that is there",
                    remedy: "To replace how it is dialed, use holdfast-server host add.")
            }
            try await catalog.set(host, of: app, by: session.actor)
            return PageLink.host(host, of: app)
        }
    }

    /// Does the same as `PUT /v1/apps/A/hosts/H/next`.
    private func announce(
        _ app: AppName, _ entries: FormEntries, _ session: PageSession
    ) async throws(FormRefusal) -> String {
        let name = entries.bytes("host")
        guard ContentHost.isName(name) else { throw FormRefusal("host", "the name of a host", "another text") }
        let port = try entries.number("port", in: 1...65_535)
        let host = try await FormRefusal.about("host") { [catalog] () async throws(ServerError) in
            try await catalog.host(String(decoding: name, as: UTF8.self), port, of: app)
        }
        try entries.requirePublic("next")
        let text = entries.bytes("next")
        let isRequest = ["-----BEGIN CERTIFICATE REQUEST", "-----BEGIN NEW CERTIFICATE REQUEST"].contains {
            text.starts(with: $0.utf8)
        }
        let isKey = text.starts(with: "-----BEGIN PUBLIC KEY".utf8)
        guard let begins = isKey || isRequest ? 0 : UTCText.decode(entries.bytes("begins")) else {
            throw FormRefusal("begins", "a time such as 2026-12-24T12:00:00Z", "another text")
        }
        let announcement = try await FormRefusal.about("next") { () throws(ServerError) in
            isRequest
                ? try Announcement(request: text)
                : isKey ? try Announcement(key: text) : try Announcement(chain: text, begins: begins)
        }
        try take(rates.takeAnnouncement(session.actor))
        return try await FormRefusal.about("next") { [catalog] () async throws(ServerError) in
            try await catalog.announce(announcement, on: host, of: app, by: session.actor)
            return PageLink.host(host, of: app)
        }
    }

    /// Does the same as `POST /v1/changes`: proposes a change from the announcements. It forces no gate.
    private func propose(
        _ app: AppName, _ entries: FormEntries, _ session: PageSession
    ) async throws(FormRefusal) -> String {
        guard let reason = String(validating: entries.bytes("reason"), as: UTF8.self),
            (1...1_024).contains(reason.utf8.count)
        else { throw FormRefusal("reason", "1 to 1024 bytes of text", "another text, or nothing") }
        let kinds = FormRoute.kinds.filter { entries.isChecked($0.rawValue) }
        guard kinds.isEmpty || catalog.ledger.generation(of: app) == 0 else {
            throw FormRefusal(
                nil,
                AdministrationError(
                    .conflict, .outOfTurn, of: "formats", expected: "the formats that are published", found: "others",
                    remedy: "Change formats with holdfast-server change propose."))
        }
        guard !kinds.isEmpty || catalog.ledger.generation(of: app) > 0 else {
            throw FormRefusal(FormRoute.kinds[0].rawValue, "one format at least", "none")
        }
        try take(rates.takeCostly(session.actor))
        guard await turns.begin(session.actor) else { throw FormRefusal(nil, AdministrationResponder.tooMany(10)) }
        defer { turns.end(session.actor) }
        return try await FormRefusal.about(nil, ["reason": "reason"]) {
            [catalog, publisher] () async throws(ServerError) in
            var wishes = Catalog.DraftOptions()
            if !kinds.isEmpty {
                var formats: [ContentFormat] = []
                for kind in kinds { formats.append(try ContentFormat(kind, refresh: 3_600)) }
                wishes.formats = formats
            }
            let proposer = try Self.proposer(session.person, in: try await catalog.approvers().head.approvers)
            try await catalog.requireFewOpenChanges(of: app)
            let content = try await catalog.draft(of: app, wishes)
            var generator = SystemRandomNumberGenerator()
            let change = try await publisher.propose(
                content, forcing: [], proposer: proposer, reason: reason, by: session.actor, using: &generator
            ).change
            return PageLink.change(change, of: app)
        }
    }

    /// The person's key among the approvers, which must not approve this change; nil for a person without one.
    private static func proposer(_ person: String, in set: ApproverSet) throws(ServerError) -> Digest? {
        let own = set.members.filter { $0.name.utf8.elementsEqual(person.utf8) }
        guard own.count <= 1 else {
            throw ServerError(
                .notForThis, of: "proposer", expected: "one key of \(person) among the approvers",
                found: "\(own.count)", remedy: "Propose it with holdfast-server change propose --proposer.")
        }
        return own.first?.key.identity
    }

    private func take(_ wait: Int?) throws(FormRefusal) {
        if let wait { throw FormRefusal(nil, AdministrationResponder.tooMany(wait)) }
    }
}

extension Publisher {
    /// Generates and seals the first key that signs an app's lists and challenge answers.
    /// - Throws: ``ServerError`` `secretFile` without the secret; `constraint` if there is a key already.
    func makeKey(
        of app: AppName, by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) {
        guard let secret else { throw Self.noSecret }
        let place = try SealedKey.Place(
            server: catalog.server, app: app, id: "\(RandomID(using: &generator))", purpose: .fingerprints)
        let key = Catalog.Key(sealed: try SealedKey(sealing: SigningKey().pem, at: place, with: secret))
        _ = try await add(key, replacing: false, by: actor)
    }
}
