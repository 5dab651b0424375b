import NIOCore
import NIOHTTP1

/// Takes reports at `/reports?appName=NAME`. What is refused is refused before its body is read, and what is taken is read
/// later: an answer says only that it was taken.
struct ReportResponder: Sendable {
    static let path = "/reports"

    let intake: ReportIntake
    let counters: ReportCounters
    /// Nanoseconds that never go back.
    let instant: @Sendable () -> UInt64

    /// What the head of a request gets; nil for a request that is none of these.
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

    /// Takes a body that was admitted.
    func take(_ request: ListenerRequest, _ target: RequestTarget) -> ListenerAnswer {
        guard let name = InitRequest.app(in: target), intake.take(request.body, for: name, from: request.source) else {
            counters.count(.shed)
            return Self.full
        }
        return ListenerAnswer(.accepted, json: Array(#"{"status":"OK"}"#.utf8), headers: Self.sharing)
    }

    /// Browsers ask before they send JSON to another origin (the Fetch standard, CORS-preflight fetch).
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

    /// The connection does not pause: it may be a proxy's, on which somebody else asks for a document next.
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

    /// A connection stays, so that a flood costs no new ones, if its body has an end that is near: it is thrown away as it
    /// comes. Otherwise nobody knows where the next request begins.
    private func refused(
        _ answer: ListenerAnswer, _ head: HTTPRequestHead, _ outcome: ReportCounters.Outcome
    ) -> ListenerAnswer {
        counters.count(outcome)
        var answer = answer
        let length = Self.length(of: head)
        answer.closes = head.headers.contains(name: "Expect") || (length ?? .max) > ReportReader.maximumSize
        return answer
    }

    /// How long the body is; nil if the head does not say.
    private static func length(of head: HTTPRequestHead) -> Int? {
        guard !head.headers.contains(name: "Transfer-Encoding") else { return nil }
        // The parser has refused what is no number, and two that differ.
        return head.headers["Content-Length"].first.map { Int($0) ?? .max } ?? 0
    }
}
