import NIOCore
import NIOHTTP1
import PinPublication
import ServerHTTP

/// Answers the requests of the public listener from memory. It waits only for signer programs.
struct PublicResponder: Sendable {
    /// The published state.
    let live: LiveSnapshot
    /// Answers requests whose responses are signed.
    let initialization: InitResponder
    /// Seconds since 1970; nil if the clock is not trusted.
    let time: @Sendable () -> Int64?
    /// A monotonic time in nanoseconds.
    let instant: @Sendable () -> UInt64
    /// The state of the server.
    let health: @Sendable () -> ServerHealth

    /// Counts responses.
    let counters: ListenerCounters

    /// Takes client reports; nil if none are taken.
    let reports: ReportResponder?

    /// The decision about a request with a body, before the body is read.
    func admission(_ head: HTTPRequestHead, from source: SourcePrefix) -> BodyAdmission? {
        let admission = reports?.admission(head, from: source)
        if case .refuse(let answer)? = admission { counters.count(.report, status: answer.status.code) }
        return admission
    }

    /// Answers one request.
    func answer(_ request: ListenerRequest) -> ListenerResponse {
        let snapshot = live.current
        if let starting = snapshot.starting, let wait = wait(for: request, starting) {
            guard !starting.isFull else {
                counters.count(.other, status: HTTPResponseStatus.serviceUnavailable.code)
                let body = ErrorBody(code: "BUSY", message: "The server has just started.")
                return .now(ListenerAnswer(.serviceUnavailable, json: body.json, headers: [("Retry-After", "1")]))
            }
            return .later {
                let snapshot = await wait()
                switch answer(request, from: snapshot ?? live.current) {
                case .now(let answer): return answer
                case .later(let wait): return await wait()
                }
            }
        }
        return answer(request, from: snapshot)
    }

    /// Reads the data for a request while the server starts; nil if none is needed.
    private func wait(
        for request: ListenerRequest, _ starting: StartingApps
    ) -> (@Sendable () async -> PublishedSnapshot?)? {
        guard request.head.method == .GET || request.head.method == .HEAD,
            let target = try? RequestTarget(request.head.uri.utf8), !target.path.starts(with: Self.healthPaths.utf8)
        else { return nil }
        if target.path.starts(with: Self.initialization.utf8) {
            guard let name = InitRequest.app(in: target) else { return nil }
            return { await starting.snapshot(of: name) }
        }
        return { await starting.snapshot(at: target.path.dropFirst()) }
    }

    private static let initialization = "/app/init"
    private static let publicKey = "/app/init/public-key"
    private static let healthPaths = "/health/"

    private func answer(_ request: ListenerRequest, from snapshot: PublishedSnapshot) -> ListenerResponse {
        let (route, response) = decide(request, snapshot)
        switch response {
        case .now(let answer):
            counters.count(route, status: answer.status.code)
            return response
        case .later(let wait):
            return .later { [counters] in
                let answer = await wait()
                counters.count(route, status: answer.status.code)
                return answer
            }
        }
    }

    private func decide(
        _ request: ListenerRequest, _ snapshot: PublishedSnapshot
    ) -> (ListenerCounters.Route, ListenerResponse) {
        if let answer = report(request) { return (.report, .now(answer)) }
        guard request.head.method == .GET || request.head.method == .HEAD else {
            let body = ErrorBody(code: "ERROR_REQUEST", message: "Only GET and HEAD are answered here.")
            return (.other, .now(ListenerAnswer(.methodNotAllowed, json: body.json, headers: [("Allow", "GET, HEAD")])))
        }
        let target: RequestTarget
        do throws(RequestTarget.Refusal) {
            target = try RequestTarget(request.head.uri.utf8)
        } catch {
            let body = ErrorBody(code: "ERROR_REQUEST", message: "The address of the request is not valid.")
            return (.other, .now(ListenerAnswer(error == .tooLong ? .uriTooLong : .badRequest, json: body.json)))
        }
        func isAt(_ path: String) -> Bool { target.path.elementsEqual(path.utf8) }
        if isAt(Self.initialization) || isAt(Self.publicKey) {
            let wantsKey = !isAt(Self.initialization)
            let answer = initialization.answer(
                target, request, from: snapshot, at: time(), instant: instant(), wantsKey: wantsKey)
            return (wantsKey ? .publicKey : .challenge, answer)
        }
        if isAt("/health/live") { return (.health, .now(ListenerAnswer(.ok, json: Array(#"{"status":"OK"}"#.utf8)))) }
        for question in ServerHealth.Question.allCases where isAt(question.path) {
            return (.health, .now(health().answer(question)))
        }
        guard let document = snapshot.document(at: target.path.dropFirst()) else {
            let body = ErrorBody(code: "NOT_FOUND", message: "Nothing is published there.")
            return (.other, .now(ListenerAnswer(.notFound, json: body.json)))
        }
        return (.document, .now(DocumentAnswer.answer(document, to: request, at: time())))
    }

    private func report(_ request: ListenerRequest) -> ListenerAnswer? {
        guard let reports, [.POST, .OPTIONS].contains(request.head.method),
            let target = try? RequestTarget(request.head.uri.utf8), ReportResponder.isAt(target)
        else { return nil }
        return request.head.method == .POST ? reports.take(request, target) : reports.options()
    }
}
