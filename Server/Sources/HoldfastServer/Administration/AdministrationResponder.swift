import NIOCore
import NIOHTTP1

/// Answers the requests of the administration's listener.
struct AdministrationResponder: Sendable {
    let live: LiveSnapshot
    let counters: ListenerCounters

    func answer(_ request: ListenerRequest) async -> ListenerAnswer {
        guard let target = try? RequestTarget(request.head.uri.utf8) else {
            return error(.badRequest, "ERROR_REQUEST", "The address of the request is not valid.")
        }
        guard target.path.elementsEqual("/metrics".utf8) else {
            return error(.notFound, "NOT_FOUND", "There is nothing at this address.")
        }
        guard request.head.method == .GET || request.head.method == .HEAD else {
            return error(.methodNotAllowed, "ERROR_REQUEST", "Only GET and HEAD are answered here.", allow: "GET, HEAD")
        }
        let families = counters.families + MetricsText.families(of: live.current)
        return ListenerAnswer(
            .ok, body: ByteBuffer(string: MetricsText(families: families).text),
            headers: [
                ("Content-Type", MetricsText.mediaType), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ])
    }

    private func error(
        _ status: HTTPResponseStatus, _ code: String, _ message: String, allow: String? = nil
    ) -> ListenerAnswer {
        ListenerAnswer(
            status, json: ErrorBody(code: code, message: message).json, headers: allow.map { [("Allow", $0)] } ?? [])
    }
}
