import NIOHTTP1

/// The body of an error as the reference server writes it: `{"status":"ERROR","responseObject":{…}}`.
struct ErrorBody: Sendable {
    /// What is wrong with a field of the request.
    struct Violation: Sendable, Hashable {
        /// The name of the field.
        let fieldName: String
        /// What was sent; nil if nothing was.
        let invalidValue: [UInt8]?
        /// What would have been right.
        let hint: String
    }

    /// The code.
    let code: String
    /// The message for people.
    let message: String
    /// What is wrong with the fields; left out if empty.
    var violations: [Violation] = []

    /// An echo of more would be of use to attackers only.
    private static let maximumEcho = 256

    /// The bytes. Fields without a value are left out.
    var json: [UInt8] {
        var text = #"{"status":"ERROR","responseObject":{"code":\#(Self.text(code)),"message":\#(Self.text(message))"#
        if !violations.isEmpty {
            text += #","violations":[\#(violations.map(Self.json).joined(separator: ","))]"#
        }
        return Array((text + "}}").utf8)
    }

    /// What a request gets that no responder sees.
    @Sendable static func refusal(_ status: HTTPResponseStatus, _ message: String) -> ListenerAnswer {
        ListenerAnswer(status, json: ErrorBody(code: "ERROR_REQUEST", message: message).json)
    }

    private static func json(_ violation: Violation) -> String {
        var fields = [#""fieldName":\#(text(violation.fieldName))"#]
        if let value = violation.invalidValue {
            // What is no UTF-8 is replaced: JSON has nothing else (RFC 8259 8.1).
            fields.append(#""invalidValue":\#(text(String(decoding: value.prefix(maximumEcho), as: UTF8.self)))"#)
        }
        fields.append(#""hint":\#(text(violation.hint))"#)
        return "{\(fields.joined(separator: ","))}"
    }

    private static func text(_ text: String) -> String {
        String(decoding: CanonicalJSON.text(text).bytes, as: UTF8.self)
    }
}
