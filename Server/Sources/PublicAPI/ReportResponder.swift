import HostMonitoring
import NIOCore
import NIOHTTP1
import ServerHTTP

/// Takes reports at `/reports?appName=NAME`. Refusals happen before the body is read. Accepted reports are read later,
/// so the response confirms only that a report was accepted.
struct ReportResponder: Sendable {
    static let path = "/reports"

    let intake: ReportIntake
    let counters: ReportCounters
    /// A monotonic time in nanoseconds.
    let instant: @Sendable () -> UInt64

    /// The decision about a request from its head; nil for a request that is no report.
    func admission(_ head: HTTPRequestHead, from source: SourcePrefix) -> BodyAdmission? {
        guard head.method == .POST, let target = try? RequestTarget(head.uri.utf8), Self.isAt(target) else {
            return nil
        }
        if let problem = Self.problem(with: head) { return .refuse(refused(problem, head, .malformed)) }
        let length = Self.length(of: head)
        guard length ?? 0 <= ReportReader.maximumSize else {
            let body = ErrorBody(code: "ERROR_REQUEST", message: "The body is too large.")
            return .refuse(refused(ListenerAnswer(.payloadTooLarge, json: body.json), head, .malformed))
        }
        do throws(ReportIntake.Refusal) {
            let permit = try intake.admit(InitRequest.app(in: target), from: source, at: instant())
            return .take(bytes: ReportReader.maximumSize, permit)
        } catch {
            return .refuse(refused(error, head))
        }
    }

    private func refused(_ refusal: ReportIntake.Refusal, _ head: HTTPRequestHead) -> ListenerAnswer {
        switch refusal {
        case .unknown:
            let body = ErrorBody(code: "NOT_FOUND", message: "This server takes no reports for an app of this name.")
            return refused(ListenerAnswer(.notFound, json: body.json), head, .unknown)
        case .rate(let seconds):
            let body = ErrorBody(code: "BUSY", message: "Too many reports.")
            return refused(
                ListenerAnswer(.tooManyRequests, json: body.json, headers: [("Retry-After", "\(seconds)")]), head, .rate
            )
        case .full: return refused(Self.full, head, .shed)
        }
    }

    /// Queues the body of an admitted request.
    func take(_ request: ListenerRequest, _ target: RequestTarget) -> ListenerAnswer {
        guard let name = InitRequest.app(in: target), intake.take(request.body, for: name, from: request.source) else {
            counters.count(.shed)
            return Self.full
        }
        return ListenerAnswer(.accepted, json: Array(#"{"status":"OK"}"#.utf8), headers: Self.sharing)
    }

    /// Answers a preflight: browsers send it before JSON to another origin (the Fetch standard, CORS-preflight fetch).
    func options() -> ListenerAnswer {
        ListenerAnswer(
            .ok, body: ByteBuffer(),
            headers: Self.sharing + [
                ("Access-Control-Allow-Methods", "POST"), ("Access-Control-Allow-Headers", "content-type"),
                ("Access-Control-Max-Age", "86400"), ("Cache-Control", "no-store"),
            ])
    }

    static func isAt(_ target: RequestTarget) -> Bool { target.path.elementsEqual(path.utf8) }

    private static let sharing = [(name: "Access-Control-Allow-Origin", value: "*")]

    /// The connection is not paused: it may be a proxy's, with requests of other clients for documents.
    private static var full: ListenerAnswer {
        let body = ErrorBody(code: "BUSY", message: "The server is busy.")
        return ListenerAnswer(.serviceUnavailable, json: body.json, headers: [("Retry-After", "60")])
    }

    private static let mediaTypes = ["application/reports+json", "application/json"]

    private static func problem(with head: HTTPRequestHead) -> ListenerAnswer? {
        guard !head.headers.contains(name: "Content-Encoding") else {
            return ListenerAnswer(
                .unsupportedMediaType,
                json: ErrorBody(code: "ERROR_REQUEST", message: "Reports are taken as they are, not compressed.").json)
        }
        let type = (head.headers["Content-Type"].first ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
            .filter { $0 != 0x20 && $0 != 0x09 }
        guard mediaTypes.contains(where: { name in type.elementsEqual(name.utf8) { $0 == $1 || $0 | 0x20 == $1 } })
        else {
            return ListenerAnswer(
                .unsupportedMediaType,
                json: ErrorBody(
                    code: "ERROR_REQUEST", message: "Reports are application/reports+json or application/json."
                ).json)
        }
        return nil
    }

    /// Decides whether the connection stays open, so that a flood needs no new ones. It stays open if the body is short
    /// enough to discard as it arrives. Otherwise the position of the next request is unknown.
    private func refused(
        _ answer: ListenerAnswer, _ head: HTTPRequestHead, _ outcome: ReportCounters.Outcome
    ) -> ListenerAnswer {
        counters.count(outcome)
        var answer = answer
        let length = Self.length(of: head)
        answer.closes = head.headers.contains(name: "Expect") || (length ?? .max) > ReportReader.maximumSize
        return answer
    }

    /// The length of the body; nil if the head does not specify it.
    private static func length(of head: HTTPRequestHead) -> Int? {
        guard !head.headers.contains(name: "Transfer-Encoding") else { return nil }
        // The parser has already refused invalid and conflicting lengths.
        return head.headers["Content-Length"].first.map { Int($0) ?? .max } ?? 0
    }
}
