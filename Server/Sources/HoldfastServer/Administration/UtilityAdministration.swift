import Holdfast
import NIOCore
import NIOHTTP1

/// The administration of the reference server, `/admin/…`, for tools that were written for it. They read what is published
/// here. What they write is proposed: the answer is 202 with the change, which people approve. That is the one difference.
struct UtilityAdministration: Sendable {
    /// A call whose token was believed.
    struct Call: Sendable {
        let method: HTTPMethod
        /// What follows `/admin/`, without slashes. All of it is short ASCII.
        let path: [String]
        let query: [String: [UInt8]]
        let body: [UInt8]
        let grant: TokenGrant

        /// Who calls, for the audit.
        var actor: String { "token \(grant.name)" }
    }

    /// Why a call is refused, as the reference says it.
    struct Refusal: Error, Sendable {
        let status: HTTPResponseStatus
        let code: String
        let message: String
        var headers: [(name: String, value: String)] = []

        static func request(_ message: String) -> Refusal {
            Refusal(status: .badRequest, code: "ERROR_REQUEST", message: message)
        }

        static func app(_ message: String) -> Refusal {
            Refusal(status: .badRequest, code: "APP_EXCEPTION", message: message)
        }

        static let noApp = Refusal(
            status: .notFound, code: "APP_NOT_FOUND",
            message: "There is no app of this name, or the token is not for it.")
        static let notFound = Refusal(status: .notFound, code: "NOT_FOUND", message: "There is nothing of this name.")

        /// What the rest of the server says.
        init(_ error: ServerError) {
            let isOwn = AdministrationError(error).status == .serviceUnavailable
            status = isOwn ? .serviceUnavailable : .badRequest
            code = isOwn ? "UNKNOWN_ERROR" : "APP_EXCEPTION"
            // What a database or a file system says is for the operator's log, and not for the network.
            message = isOwn ? "The server cannot do that now." : "\(error)"
        }

        init(
            status: HTTPResponseStatus, code: String, message: String, headers: [(name: String, value: String)] = []
        ) {
            (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
        }

        var answer: ListenerAnswer {
            ListenerAnswer(status, json: ErrorBody(code: code, message: message).json, headers: headers)
        }
    }

    let publisher: Publisher
    let rates: AdministrationRates
    let turns: JudgingTurns

    var catalog: Catalog { publisher.catalog }

    private static let prefix = Array("/admin/".utf8)

    /// Answers what is below `/admin/`; nil for everything else.
    func answer(_ request: ListenerRequest) async -> ListenerAnswer? {
        guard request.head.uri.utf8.starts(with: Self.prefix) else { return nil }
        var caller: String?
        var answer: ListenerAnswer
        do throws(Refusal) {
            let call = try await accepted(request)
            caller = call.actor
            answer = try await self.answer(call)
        } catch {
            answer = error.answer
        }
        answer.caller = caller
        return answer
    }

    // MARK: Who may

    private func accepted(_ request: ListenerRequest) async throws(Refusal) -> Call {
        guard let target = try? RequestTarget(request.head.uri.utf8) else {
            throw .request("The address of the request is not valid.")
        }
        let grant = try await grant(request)
        // RFC 9110 9.3.2: HEAD where GET is.
        let method = request.head.method == .HEAD ? .GET : request.head.method
        let scope: TokenGrant.Scope = method == .GET ? .read : .propose
        guard grant.allows(scope) else { throw unauthorized(request, "The token is for another purpose.") }
        if request.body.readableBytes > 0 {
            // A browser that knows the password sends it with what any page asks for, but another type than those of
            // forms only after asking the server.
            do throws(AdministrationError) {
                try AdministrationResponder.requireJSON(request)
            } catch {
                throw .request("Content-Type: expected application/json.")
            }
        }
        var query: [String: [UInt8]] = [:]
        for field in target.fields {
            guard let name = ["domain", "fingerprint"].first(where: { $0.utf8.elementsEqual(field.name) }),
                query.updateValue(field.value, forKey: name) == nil
            else { throw .request("The query has a field that is not known, or one twice.") }
        }
        let path = target.path.dropFirst(Self.prefix.count).split(separator: UInt8(ascii: "/"))
            .map { String(decoding: $0, as: UTF8.self) }
        return Call(
            method: method, path: path, query: query, body: Array(request.body.readableBytesView), grant: grant)
    }

    /// A user is the name of a token, and the token is the password (RFC 7617).
    private func grant(_ request: ListenerRequest) async throws(Refusal) -> TokenGrant {
        let words = (request.header("Authorization") ?? "").utf8.split(separator: 0x20, maxSplits: 1)
        guard words.count == 2, ASCIIText.spells(words[0], "basic"), words[1].count <= 1_024,
            let pair = Base64.decode(words[1]), let colon = pair.firstIndex(of: UInt8(ascii: ":")),
            let token = AccessToken(pair[(colon + 1)...])
        else { throw unauthorized(request, "Give the name of a token and the token.") }
        let found = try await refusing { () async throws(ServerError) in try await catalog.grant(of: token) }
        guard let found, found.name.utf8.elementsEqual(pair[..<colon]) else {
            throw unauthorized(request, "The token does not count, or it has another name.")
        }
        return found
    }

    private func unauthorized(_ request: ListenerRequest, _ message: String) -> Refusal {
        if let wait = rates.takeFailure(request.source) { return Self.tooMany(wait) }
        return Refusal(
            status: .unauthorized, code: "ERROR_AUTHENTICATION", message: message,
            headers: [("WWW-Authenticate", "Basic realm=\"holdfast\", charset=\"UTF-8\"")])
    }

    private static func tooMany(_ wait: Int) -> Refusal {
        Refusal(
            status: .tooManyRequests, code: "UNKNOWN_ERROR", message: "Ask again in \(wait) seconds.",
            headers: [("Retry-After", "\(wait)")])
    }

    /// Has clients judge something, which takes a second of a processor or longer.
    /// - Parameter count: how often. No call costs more than a token can have saved.
    func inTurn<Value>(
        _ call: Call, times count: Int, _ body: () async throws(Refusal) -> Value
    ) async throws(Refusal) -> Value {
        for _ in 0..<min(count, AdministrationRates.greatestSaved) {
            if let wait = rates.takeCostly(call.grant.name) { throw Self.tooMany(wait) }
        }
        guard await turns.begin(call.grant.name) else { throw Self.tooMany(10) }
        defer { turns.end(call.grant.name) }
        return try await body()
    }

    // MARK: Calls

    /// The path with names in braces for what stands there.
    private static func template(_ path: [String]) -> String {
        var path = path
        if path.first == "apps", path.count > 1 { path[1] = "{app}" }
        if path.count == 4, path[2] == "versions" { path[3] = "{id}" }
        if path.first == "texts", path.count == 3 { path = ["texts", "{key}", "{language}"] }
        return path.joined(separator: "/")
    }

    private func answer(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        switch "\(call.method.rawValue) \(Self.template(call.path))" {
        case "GET apps": try await listApps(call)
        case "POST apps":
            throw .app("Add apps with holdfast-server app add: somebody has to say what their clients are like.")
        case "GET apps/{app}": try await getApp(call)
        case "POST apps/{app}/certificates/auto": try await addSeen(call)
        case "POST apps/{app}/certificates/pem": try await addCertificate(call)
        case "DELETE apps/{app}/certificates": try await removeCertificate(call)
        case "DELETE apps/{app}/domains": try await removeDomain(call)
        case "PUT apps/{app}/pinning-bypass-domains": try await setBypass(call)
        case "GET apps/{app}/versions": try await listVersions(call)
        case "GET apps/{app}/versions/{id}": try await getVersion(call)
        case "POST apps/{app}/versions": try await addVersion(call)
        case "DELETE apps/{app}/versions/{id}": try await removeVersion(call)
        case "DELETE certificates/expired": try await removeExpired(call)
        case "GET texts": try await listTexts(call)
        case "GET texts/{key}/{language}": try await getText(call)
        case "POST texts": try await addText(call)
        case "DELETE texts/{key}/{language}": try await removeText(call)
        default: throw .notFound
        }
    }

    /// The app of the path, if the token is for it.
    func app(_ call: Call) throws(Refusal) -> AppName {
        guard let app = AppName(octets: call.path[1].utf8), call.grant.isFor(app), catalog.ledger.apps[app] != nil
        else {
            throw .noApp
        }
        return app
    }

    /// The apps that the token is for.
    func apps(_ call: Call) -> [AppName] { catalog.apps.filter { call.grant.isFor($0) } }

    /// The fields of the body.
    func fields(_ call: Call) throws(Refusal) -> JSONFields {
        do throws(ServerError) {
            return try UtilityBody.fields(call.body)
        } catch {
            throw .request("The body is no object of JSON: expected \(error.expected).")
        }
    }

    /// Reads something of a request.
    func reading<Value>(_ body: () throws(ServerError) -> Value) throws(Refusal) -> Value {
        do throws(ServerError) {
            return try body()
        } catch {
            throw .request("\(error.subject ?? "the request"): expected \(error.expected).")
        }
    }

    /// Does something of the server, and says what it refuses.
    func refusing<Value>(_ body: () async throws(ServerError) -> Value) async throws(Refusal) -> Value {
        do throws(ServerError) {
            return try await body()
        } catch {
            throw Refusal(error)
        }
    }

    static func json(_ members: [String: CanonicalJSON], _ status: HTTPResponseStatus = .ok) -> ListenerAnswer {
        ListenerAnswer(status, json: CanonicalJSON.object(members).octets)
    }
}
