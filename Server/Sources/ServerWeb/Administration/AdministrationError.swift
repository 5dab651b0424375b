import Holdfast
import NIOHTTP1
import ServerFoundation
import ServerHTTP

/// The reason why the administration listener refuses a call: `{"code","field"?,"expected","found","remedy"}`.
package struct AdministrationError: Error, Sendable {
    /// The reasons. The set is closed: `openapi.yaml` names each, and a test compares both.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        // Of the request.
        case badRequest, unauthorized, forbidden, methodNotAllowed, timeout, tooLarge, unsupportedMediaType
        case tooManyRequests, headersTooLarge, addressTooLong
        // Of its content.
        case malformed, invalidValue, invalidSignature, userNotVerified, notFound, notPublishable
        // Of the current state.
        case notReady, notApproved, notForThis, counterNotRisen, rejected, outOfTurn, gate, constraint
        // Of the server.
        case brokenChain, clock, sealedKey, secretFile, unavailable
    }

    let status: HTTPResponseStatus
    let code: Code
    /// The invalid field or parameter; nil if there is none.
    let field: String?
    let expected: String
    let found: String
    let remedy: String
    var headers: [(name: String, value: String)] = []
    /// Additional members of the JSON body.
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

    /// Creates the error for an error of the server, with a status.
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
        // Details of database and file errors belong in the operator's log, not on the network.
        found = isKnown ? error.found : "a failure of \(error.code)"
        remedy = error.remedy
        if status == .serviceUnavailable { headers = [("Retry-After", "30")] }
    }

    /// The response.
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

    /// The response to a request that does not reach a call.
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
