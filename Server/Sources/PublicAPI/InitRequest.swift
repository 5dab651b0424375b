import ServerFoundation
import ServerHTTP

/// The validated fields of a request to `/app/init`.
struct InitRequest: Sendable, Hashable {
    /// The name of the app as it was sent. It is compared with nothing before it is validated.
    let app: [UInt8]
    /// Whether the request has all three fields with which a client asks whether it needs an update.
    let asksForVersion: Bool

    /// The invalid fields.
    struct Refusal: Error {
        let violations: [ErrorBody.Violation]
    }

    /// Reads the fields. Unknown fields are ignored, as in the reference server.
    init(_ target: RequestTarget) throws(Refusal) {
        var reading = Reading(target)
        let app = reading.app()
        let asked = [
            reading.field("appVersion", "A version such as 3.1.2.", Self.isVersion),
            reading.field("osVersion", "A version such as 14.5.1, or one number such as 31.") {
                Self.isVersion($0) || Self.isNumber($0[...])
            },
            reading.field("platform", "ANDROID or IOS.") { ["ANDROID", "IOS"].map { Array($0.utf8) }.contains($0) },
        ]
        guard let app, reading.violations.isEmpty else { throw Refusal(violations: reading.violations) }
        self.app = app
        asksForVersion = asked.allSatisfy(\.self)
    }

    /// Whether the text is `MAJOR.MINOR.PATCH` with at most nine digits each; anything after a hyphen is ignored.
    private static func isVersion(_ bytes: [UInt8]) -> Bool {
        // The reference's pattern does not match text after a line break.
        guard bytes.count <= 255, !bytes.contains(0x0A), !bytes.contains(0x0D) else { return false }
        let parts = bytes.prefix { $0 != UInt8(ascii: "-") }
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy(isNumber)
    }

    private static func isNumber(_ digits: ArraySlice<UInt8>) -> Bool {
        (1...9).contains(digits.count)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The name of the app, even in an otherwise invalid request: errors are signed too.
    static func app(in target: RequestTarget) -> AppName? {
        let values = target.values("appName")
        return values.count == 1 ? AppName(bytes: values[0]) : nil
    }

    private struct Reading {
        let target: RequestTarget
        var violations: [ErrorBody.Violation] = []

        init(_ target: RequestTarget) { self.target = target }

        mutating func app() -> [UInt8]? {
            let values = target.values("appName")
            guard values.count == 1, let value = values.first else {
                violate("appName", values.last, values.isEmpty ? "The name of the app." : "Once.")
                return nil
            }
            return value
        }

        /// Whether a field is present and valid.
        mutating func field(_ name: String, _ hint: String, _ isValid: ([UInt8]) -> Bool) -> Bool {
            let values = target.values(name)
            guard let first = values.first else { return false }
            guard values.count == 1 else {
                violate(name, values.last, "Once.")
                return false
            }
            guard isValid(first) else {
                violate(name, first, hint)
                return false
            }
            return true
        }

        private mutating func violate(_ name: String, _ value: [UInt8]?, _ hint: String) {
            violations.append(ErrorBody.Violation(fieldName: name, invalidValue: value, hint: hint))
        }
    }
}
