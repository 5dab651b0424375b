import Holdfast
import NIOHTTP1

/// Why a call of the administration's listener is refused: `{"code","field"?,"expected","found","remedy"}`.
struct AdministrationError: Error, Sendable {
    /// The reasons. The set is closed: `openapi.yaml` names each, and a test compares.
    enum Code: String, Sendable, Hashable, CaseIterable {
        // Of the request itself.
        case badRequest, unauthorized, forbidden, methodNotAllowed, timeout, tooLarge, unsupportedMediaType
        case tooManyRequests, headersTooLarge, addressTooLong
        // Of what it says.
        case malformed, invalidValue, invalidSignature, userNotVerified, notFound, notPublishable
        // Of the state it meets.
        case notReady, notApproved, notForThis, counterNotRisen, rejected, outOfTurn, gate, constraint
        // Of the server.
        case brokenChain, clock, sealedKey, secretFile, unavailable
    }

    let status: HTTPResponseStatus
    let code: Code
    /// The field, parameter or thing that it is about; nil if the rest says so.
    let field: String?
    let expected: String
    let found: String
    let remedy: String
    var headers: [(name: String, value: String)] = []
    /// What programs want to know as well.
    var facts: [String: CanonicalJSON] = [:]

    init(
        _ status: HTTPResponseStatus, _ code: Code, of field: String? = nil, expected: String, found: String,
        remedy: String, headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.field = field
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.headers = headers
    }

    /// What the rest of the server says, with the status that fits.
    init(_ error: ServerError) {
        let code = Code(rawValue: error.code.rawValue) ?? .unavailable
        let isKnown = code != .unavailable
        switch code {
        case .notFound: status = .notFound
        case .malformed, .invalidValue, .invalidSignature, .userNotVerified, .notPublishable:
            status = .unprocessableEntity
        case .notReady, .notApproved, .notForThis, .counterNotRisen, .rejected, .outOfTurn, .gate, .constraint:
            status = .conflict
        default: status = .serviceUnavailable
        }
        self.code = code
        field = error.subject
        expected = error.expected
        // What a database or a file system says is for the operator's log, and not for the network.
        found = isKnown ? error.found : "a failure of \(error.code)"
        remedy = error.remedy
        if status == .serviceUnavailable { headers = [("Retry-After", "30")] }
    }

    /// The answer.
    var answer: ListenerAnswer {
        var members: [String: CanonicalJSON] = [
            "code": .text(code.rawValue), "expected": .text(expected), "found": .text(found),
            "remedy": .text(remedy),
        ]
        if let field { members["field"] = .text(field) }
        members.merge(facts) { own, _ in own }
        var answer = ListenerAnswer(status, json: CanonicalJSON.object(members).bytes, headers: headers)
        if status == .tooManyRequests { answer.pauses = true }
        return answer
    }

    /// What a request gets that no call sees.
    @Sendable static func refusal(_ status: HTTPResponseStatus, _ message: String) -> ListenerAnswer {
        let code: Code =
            switch status {
            case .payloadTooLarge: .tooLarge
            case .requestTimeout: .timeout
            case .requestHeaderFieldsTooLarge: .headersTooLarge
            default: .badRequest
            }
        return AdministrationError(
            status, code, expected: "a request of HTTP/1.1 within the limits", found: message,
            remedy: "Correct the request; openapi.yaml has the limits."
        ).answer
    }
}
