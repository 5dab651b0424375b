package import NIOHTTP1
import ServerFoundation

/// The body of an error as the reference server writes it: `{"status":"ERROR","responseObject":{…}}`.
package struct ErrorBody: Sendable {
    /// A problem with a field of the request.
    package struct Violation: Sendable, Hashable {
        /// The name of the field.
        package let fieldName: String
        /// The value that was sent; nil if it is missing.
        package let invalidValue: [UInt8]?
        /// A description of a valid value.
        package let hint: String

        package init(fieldName: String, invalidValue: [UInt8]?, hint: String) {
            self.fieldName = fieldName
            self.invalidValue = invalidValue
            self.hint = hint
        }
    }

    /// The code.
    package let code: String
    /// The message for people.
    package let message: String
    /// The problems with fields; left out if empty.
    package var violations: [Violation] = []

    package init(code: String, message: String, violations: [Violation] = []) {
        self.code = code
        self.message = message
        self.violations = violations
    }

    /// Maximum number of echoed bytes; a longer echo would help only attackers.
    private static let maximumEcho = 256

    /// The bytes. Fields without a value are left out.
    package var json: [UInt8] {
        var text = #"{"status":"ERROR","responseObject":{"code":\#(Self.text(code)),"message":\#(Self.text(message))"#
        if !violations.isEmpty {
            text += #","violations":[\#(violations.map(Self.json).joined(separator: ","))]"#
        }
        return Array((text + "}}").utf8)
    }

    /// The response to a request that does not reach a responder.
    @Sendable package static func refusal(_ status: HTTPResponseStatus, _ message: String) -> ListenerAnswer {
        ListenerAnswer(status, json: ErrorBody(code: "ERROR_REQUEST", message: message).json)
    }

    private static func json(_ violation: Violation) -> String {
        var fields = [#""fieldName":\#(text(violation.fieldName))"#]
        if let value = violation.invalidValue {
            // Invalid UTF-8 is replaced, since JSON allows only UTF-8 (RFC 8259 8.1).
            fields.append(#""invalidValue":\#(text(String(decoding: value.prefix(maximumEcho), as: UTF8.self)))"#)
        }
        fields.append(#""hint":\#(text(violation.hint))"#)
        return "{\(fields.joined(separator: ","))}"
    }

    private static func text(_ text: String) -> String {
        String(decoding: CanonicalJSON.text(text).bytes, as: UTF8.self)
    }
}
