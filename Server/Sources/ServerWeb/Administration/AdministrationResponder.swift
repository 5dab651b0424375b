import NIOCore
import NIOHTTP1
import PinChanges
import PinPublication
import PublicAPI
import ServerApprovals
import ServerFoundation
package import ServerHTTP
import ServerModel
import ServerStore

/// Answers requests for certain addresses; nil for all others.
package typealias AddressResponder = @Sendable (ListenerRequest) async -> ListenerAnswer?

/// Answers the requests of the administration listener: finds the route, verifies the token, and runs the call.
struct AdministrationResponder: RefusingResponder, Sendable {
    let publisher: Publisher
    let counters: ListenerCounters
    var notices = NoticeCounters()
    var reports = ReportInbox()
    /// Returns the state of the server.
    let health: @Sendable () -> ServerHealth
    /// Limits how often callers may call.
    var rates = AdministrationRates()
    /// Limits how many evaluations run at the same time.
    var turns = EvaluationLimiter()
    /// Whether `/metrics`, which contains the names of all apps and hosts, requires a token.
    var hidesMetrics = false
    /// The responders that take precedence: those for browsers.
    var others: [AddressResponder] = []

    var catalog: Catalog { publisher.catalog }

    func answer(_ request: ListenerRequest) async -> ListenerAnswer {
        for other in others {
            if let answer = await other(request) { return answer }
        }
        var caller: String?
        var answer: ListenerAnswer
        do throws(AdministrationError) {
            let call = try await accepted(request)
            caller = call.grant == nil ? nil : call.actor
            answer = try await inTurn(call)
        } catch {
            answer = error.answer
        }
        answer.caller = caller
        return answer
    }

    /// Runs a call. A call that evaluates clients first waits for the turn of its token.
    private func inTurn(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        guard call.route.judges, let token = call.grant?.name else { return try await self.call(call) }
        guard await turns.begin(token) else { throw Self.tooMany(10) }
        defer { turns.end(token) }
        return try await self.call(call)
    }

    // MARK: Authorization

    private func accepted(_ request: ListenerRequest) async throws(AdministrationError) -> AdministrationCall {
        let target: RequestTarget
        do throws(RequestTarget.Refusal) {
            target = try RequestTarget(request.head.uri.utf8)
        } catch {
            let isTooLong = error == .tooLong
            throw AdministrationError(
                isTooLong ? .uriTooLong : .badRequest, isTooLong ? .addressTooLong : .badRequest, of: "address",
                expected: "an address as openapi.yaml has it", found: "another",
                remedy: "Write the path without percent-encoding.")
        }
        let (route, parameters) = try route(request.head.method, target.path)
        let grant = try await grant(for: route, request)
        let query = try query(of: target, route)
        let body = Array(request.body.readableBytesView)
        if route.hasBody { try Self.requireJSON(request) } else { try Self.requireNothing(body) }
        return AdministrationCall(route: route, parameters: parameters, query: query, body: body, grant: grant)
    }

    private func route(
        _ method: HTTPMethod, _ path: [UInt8]
    ) throws(AdministrationError) -> (AdministrationRoute, [String: [UInt8]]) {
        let there = AdministrationRoute.allCases.compactMap { route in route.parameters(of: path).map { (route, $0) } }
        guard !there.isEmpty else {
            throw AdministrationError(
                .notFound, .notFound, of: "address", expected: "an address of openapi.yaml", found: "another",
                remedy: "Read /openapi.yaml.")
        }
        // RFC 9110 9.3.2: HEAD is allowed wherever GET is.
        let wanted = method == .HEAD ? .GET : method
        if let found = there.first(where: { $0.0.method == wanted }) { return found }
        let allowed = there.flatMap { $0.0.method == .GET ? ["GET", "HEAD"] : [$0.0.method.rawValue] }
        throw AdministrationError(
            .methodNotAllowed, .methodNotAllowed, of: "method", expected: allowed.joined(separator: ", "),
            found: "another", remedy: "Use one of these.", headers: [("Allow", allowed.joined(separator: ", "))])
    }

    private func grant(
        for route: AdministrationRoute, _ request: ListenerRequest
    ) async throws(AdministrationError) -> TokenGrant? {
        if case .anybody = route.access, !(route == .getMetrics && hidesMetrics) { return nil }
        guard let header = request.header("Authorization") else { throw unauthorized(nil, request) }
        // RFC 9110 11.1: the scheme's name is case-insensitive.
        let words = header.utf8.split(separator: 0x20, maxSplits: 1)
        guard words.count == 2, ASCIIText.spells(words[0], "bearer"), let token = AccessToken(words[1]),
            let grant = try await believed(token)
        else { throw unauthorized("invalid_token", request) }
        switch route.access {
        // The response is about all apps.
        case .anybody where grant.app != nil || !grant.allows(.read):
            throw AdministrationError(
                .forbidden, .forbidden, of: "token", expected: "a token to read, for all apps",
                found: "one for another purpose, or for one app",
                remedy: "Use a token for all apps, as this makes one: "
                    + "`holdfast-server token add NAME --every-app --scope read --data DIR`.")
        case .holder(let scope) where !grant.allows(scope):
            throw AdministrationError(
                .forbidden, .forbidden, of: "token", expected: "a token to \(scope)", found: "one for another purpose",
                remedy: "Use a token for that, as this makes one: "
                    + "`holdfast-server token add NAME --app APP --scope \(scope) --data DIR`.")
        default: return grant
        }
    }

    private func believed(_ token: AccessToken) async throws(AdministrationError) -> TokenGrant? {
        try await refusing { () async throws(ServerError) in try await catalog.grant(of: token) }
    }

    /// Limits the rate of clients without a valid token. It does not limit others, even from the same address.
    private func unauthorized(_ reason: String?, _ request: ListenerRequest) -> AdministrationError {
        if let wait = rates.takeFailure(request.source) { return Self.tooMany(wait) }
        let challenge = "Bearer realm=\"holdfast\"" + (reason.map { ", error=\"\($0)\"" } ?? "")
        return AdministrationError(
            .unauthorized, .unauthorized, of: "Authorization", expected: "Bearer and a valid token",
            found: reason == nil ? "none" : "another, or one that ended",
            remedy: "Make a token: `holdfast-server token add NAME --every-app --scope read --data DIR`.",
            headers: [("WWW-Authenticate", challenge)])
    }

    /// Counts a call that evaluates clients, which takes a second of processor time, or that reads all data of an app.
    /// Invalid requests are refused earlier and not counted.
    func takeTurn(_ call: AdministrationCall) throws(AdministrationError) {
        if let grant = call.grant, let wait = rates.takeCostly(grant.name) { throw Self.tooMany(wait) }
    }

    /// Counts an announcement, because it is stored permanently.
    func takeAnnouncement(_ call: AdministrationCall) throws(AdministrationError) {
        if let grant = call.grant, let wait = rates.takeAnnouncement(grant.name) { throw Self.tooMany(wait) }
    }

    static func tooMany(_ wait: Int) -> AdministrationError {
        AdministrationError(
            .tooManyRequests, .tooManyRequests, expected: "fewer requests", found: "too many",
            remedy: "Ask again in \(wait) seconds.", headers: [("Retry-After", "\(wait)")])
    }

    // MARK: Request content

    private func query(
        of target: RequestTarget, _ route: AdministrationRoute
    ) throws(AdministrationError) -> [String: [UInt8]] {
        var query: [String: [UInt8]] = [:]
        for field in target.fields {
            guard let name = route.queryFields.first(where: { $0.utf8.elementsEqual(field.name) }),
                query.updateValue(field.value, forKey: name) == nil
            else {
                throw AdministrationError(
                    .badRequest, .badRequest, of: "query", expected: "only fields of openapi.yaml, each once",
                    found: "another, or one twice", remedy: "Correct the address.")
            }
        }
        return query
    }

    /// JSON is UTF-8 (RFC 8259 8.1), so another charset is refused like another type. Content codings are not decoded.
    static func requireJSON(_ request: ListenerRequest) throws(AdministrationError) {
        guard !request.head.headers.contains(name: "Content-Encoding") else {
            throw AdministrationError(
                .unsupportedMediaType, .unsupportedMediaType, of: "Content-Encoding", expected: "none",
                found: "another", remedy: "Send the JSON as it is.")
        }
        let parts = (request.header("Content-Type") ?? "").utf8
            .split(separator: UInt8(ascii: ";"), maxSplits: 2, omittingEmptySubsequences: false)
            .map { part in part.filter { $0 != 0x20 && $0 != 0x09 } }
        guard parts.count <= 2, ASCIIText.spells(parts[0], "application/json"),
            parts.count == 1 || ASCIIText.spells(parts[1], "charset=utf-8")
        else {
            throw AdministrationError(
                .unsupportedMediaType, .unsupportedMediaType, of: "Content-Type", expected: "application/json",
                found: "another, or none", remedy: "Send JSON in UTF-8, and say so.")
        }
    }

    /// An unexpected body is refused, because its sender assumes that it has an effect.
    private static func requireNothing(_ body: [UInt8]) throws(AdministrationError) {
        guard body.isEmpty else {
            throw AdministrationError(
                .badRequest, .badRequest, of: "body", expected: "none", found: "\(body.count) bytes",
                remedy: "Send no body here.")
        }
    }

    // MARK: Calls

    private func call(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        switch call.route {
        case .getLive: return Self.json([("status", .text("OK"))])
        case .getReady: return health().answer(.ready)
        case .getWritable: return health().answer(.writable)
        case .getMetrics: return await metrics()
        case .getDescription:
            return ListenerAnswer(
                .ok, body: ByteBuffer(bytes: PackageResources.openapi_yaml),
                headers: [("Content-Type", "application/yaml"), ("Cache-Control", "no-store")])
        case .listApps: return try await listApps(call)
        case .getStatus: return try await getStatus(call)
        case .listHosts: return try await listHosts(call)
        case .getHost: return try await getHost(call)
        case .setHost: return try await setHost(call)
        case .reportSightings: return try await reportSightings(call)
        case .announceNext: return try await announceNext(call)
        case .withdrawNext: return try await withdrawNext(call)
        case .withdrawAnnouncement: return try await withdrawAnnouncement(call)
        case .getReports: return try await getReports(call)
        case .switchReports: return try await switchReports(call)
        case .askGate: return try await askGate(call)
        case .getDrafts: return try await getDrafts(call)
        case .handInDrafts: return try await handInDrafts(call)
        case .prepareDrafts: return try await prepareDrafts(call)
        case .rotateKeys: return try await rotateKeys(call)
        case .publishRoot: return try await publishRoot(call)
        case .listKeys: return try await listKeys(call)
        case .replaceKey: return try await replaceKey(call)
        case .listChanges: return try await listChanges(call)
        case .propose: return try await propose(call)
        case .getChange: return try await getChange(call)
        case .getContent: return Self.bytes(try await change(of: call).content.bytes)
        case .getOutlook: return Self.bytes(try await change(of: call).outlook)
        case .askGates: return try await askGates(call)
        case .approve: return try await add(.approve, call)
        case .reject: return try await add(.reject, call)
        case .publish: return try await publish(call)
        case .listDocuments: return try await listDocuments(call)
        case .getDocument: return try await getDocument(call)
        case .listApprovers: return try await listApprovers()
        case .readAudit: return try await readAudit(call)
        }
    }

    private func metrics() async -> ListenerAnswer {
        // Values that cannot be read are left out, so that alert rules notice; all others are shown.
        var places: [PlaceStanding] = []
        for app in catalog.apps { places += (try? await publisher.placeStandings(of: app)) ?? [] }
        let now = catalog.signingTime ?? 0
        let families =
            counters.families + MetricsText.families(of: publisher.live.current)
            + MetricsText.families(of: catalog.engine.reserve)
            + MetricsText.families(
                of: catalog.ledger, isReady: health().isGood(.writable), at: now)
            + MetricsText.families(of: await publisher.currentStandings(at: now), at: now)
            + MetricsText.families(of: places) + MetricsText.families(of: notices) + reports.families
        return ListenerAnswer(
            .ok, body: ByteBuffer(string: MetricsText(families: families).text),
            headers: [
                ("Content-Type", MetricsText.mediaType), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ])
    }

    // MARK: Answers

    static func json(
        _ members: [(String, CanonicalJSON)], _ status: HTTPResponseStatus = .ok,
        headers: [(name: String, value: String)] = []
    ) -> ListenerAnswer {
        ListenerAnswer(
            status, json: CanonicalJSON.object(Dictionary(members) { first, _ in first }).bytes, headers: headers)
    }

    static func bytes(_ bytes: [UInt8]) -> ListenerAnswer { ListenerAnswer(.ok, json: bytes) }
}
