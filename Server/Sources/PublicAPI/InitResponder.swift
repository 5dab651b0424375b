import HoldfastSigning
import NIOCore
import NIOHTTP1
import PinPublication
import ServerFoundation
import ServerHTTP

/// Answers `/app/init` and `/app/init/public-key` like the reference server. It reports invalid fields first, then the
/// challenge, then the app. Each response, even an error, is signed if the app and the challenge are usable.
struct InitResponder: Sendable {
    let budget: SigningBudget
    let counters: ListenerCounters
    /// Limits the number of signer programs that run at the same time.
    let programs = ProgramSlots()

    /// A response before it is signed.
    private struct Outcome: Sendable {
        var status: HTTPResponseStatus
        var body: [UInt8]
        var headers: [(name: String, value: String)] = []
        /// Whether to skip the signature, which would only help an attacker to keep the server busy.
        var isUnsigned = false
    }

    /// Answers a request.
    /// - Parameters:
    ///   - target: the path and the query of the request.
    ///   - snapshot: the published state.
    ///   - now: seconds since 1970; nil if the clock is not trusted.
    ///   - instant: a monotonic time in nanoseconds, for rates.
    func answer(
        _ target: RequestTarget, _ request: ListenerRequest, from snapshot: PublishedSnapshot, at now: Int64?,
        instant: UInt64, wantsKey: Bool
    ) -> ListenerResponse {
        let name = InitRequest.app(in: target)
        let app = name.flatMap { snapshot.apps[$0] }
        let challenge = Challenge(request.header(Challenge.header))
        var outcome: Outcome
        do throws(InitRequest.Refusal) {
            let fields = try InitRequest(target)
            outcome =
                wantsKey
                ? key(of: app, snapshot)
                : answer(fields, challenge, app, snapshot, now)
        } catch {
            let body = ErrorBody(
                code: "ERROR_REQUEST", message: "The request is not valid.", violations: error.violations)
            outcome = Outcome(status: .badRequest, body: body.json)
        }
        guard !outcome.isUnsigned, let challenge, let name, let app, let key = app.key, now != nil else {
            return .now(ListenerAnswer(outcome.status, json: outcome.body, headers: outcome.headers))
        }
        if let refusal = budget.take(name, for: request.source, at: instant) {
            counters.count(refusal)
            return .now(Self.busy(refusal))
        }
        guard app.signsInProgram else { return .now(signed(outcome, challenge, key)) }
        guard let slot = programs.take(for: name) else {
            counters.count(.busy)
            return .now(Self.busy(.busy))
        }
        return .later { [outcome] in
            defer { slot.release() }
            return await ProgramThreads.run { () -> ListenerAnswer in signed(outcome, challenge, key) }
        }
    }

    private func signed(_ outcome: Outcome, _ challenge: Challenge, _ key: any DocumentSigner) -> ListenerAnswer {
        guard let signature = try? key.signature(for: challenge.signedBytes(outcome.body)) else {
            return Self.unavailable("The answer could not be signed.")
        }
        counters.countSignature()
        return ListenerAnswer(
            outcome.status, json: outcome.body,
            headers: outcome.headers + [(Challenge.signatureHeader, Base64.encode(signature))])
    }

    private static let unreadable = "The server cannot read its database."

    private func key(of app: PublishedSnapshot.App?, _ snapshot: PublishedSnapshot) -> Outcome {
        guard let app else {
            if snapshot.isOfDocuments { return unavailable(Self.unreadable) }
            return error(.notFound, "PUBLIC_KEY_NOT_FOUND", "There is no public key for this name of an app.")
        }
        let text = String(decoding: CanonicalJSON.text(app.publicKey).bytes, as: UTF8.self)
        return Outcome(status: .ok, body: Array(#"{"publicKey":\#(text)}"#.utf8))
    }

    private func answer(
        _ fields: InitRequest, _ challenge: Challenge?, _ app: PublishedSnapshot.App?, _ snapshot: PublishedSnapshot,
        _ now: Int64?
    ) -> Outcome {
        guard challenge != nil else {
            return error(
                .forbidden, "INVALID_CHALLENGE",
                "The header \(Challenge.header) must have the Base64 of 16 to 32 random bytes, once.")
        }
        guard let app else {
            if snapshot.isOfDocuments { return unavailable(Self.unreadable) }
            return error(.notFound, "APP_NOT_FOUND", "There is no app of this name.")
        }
        guard let now else { return unavailable("The clock of the server is not to be trusted.") }
        guard app.key != nil else { return unavailable("The server cannot sign.") }
        guard now <= app.content.end else { return unavailable("What is published is too old to be signed.") }
        return Outcome(status: .ok, body: app.answer(at: now, saysVersion: fields.asksForVersion))
    }

    private func error(_ status: HTTPResponseStatus, _ code: String, _ message: String) -> Outcome {
        Outcome(status: status, body: ErrorBody(code: code, message: message).json)
    }

    /// A signature confirms the server's answer about an app; this response contains none.
    private func unavailable(_ message: String) -> Outcome {
        Outcome(
            status: .serviceUnavailable, body: ErrorBody(code: "UNAVAILABLE", message: message).json,
            headers: [("Retry-After", "60")], isUnsigned: true)
    }

    private static func unavailable(_ message: String) -> ListenerAnswer {
        ListenerAnswer(
            .serviceUnavailable, json: ErrorBody(code: "UNAVAILABLE", message: message).json,
            headers: [("Retry-After", "60")])
    }

    private static func busy(_ refusal: SigningBudget.Refusal) -> ListenerAnswer {
        var seconds = 1
        var message = "The server is busy."
        if case .source(let wait) = refusal {
            seconds = max(1, wait)
            message = "Too many requests from this network."
        }
        var answer = ListenerAnswer(
            .serviceUnavailable, json: ErrorBody(code: "BUSY", message: message).json,
            headers: [("Retry-After", "\(seconds)")])
        // A pause makes each connection of a flood slow: its next request waits in the client's own buffers.
        answer.pauses = true
        return answer
    }
}
