/// The fields of a request to `/app/init`, checked.
struct InitRequest: Sendable, Hashable {
    /// What the client says about itself, which decides whether it should be updated.
    struct Client: Sendable, Hashable {
        let application: AppVersion
        let majorSystemVersion: Int64
        let platform: VersionRule.Platform
    }

    /// The name of the app as it was sent. It is compared with nothing before it is known to be a name.
    let app: [UInt8]
    /// Nil unless all three of its fields were sent: then no word is said about versions.
    let client: Client?

    /// The fields that are wrong.
    struct Refusal: Error {
        let violations: [ErrorBody.Violation]
    }

    /// Reads the fields. Others are ignored, as the reference server does.
    init(_ target: RequestTarget) throws(Refusal) {
        var reading = Reading(target)
        let app = reading.app()
        let application = reading.optional("appVersion", "A version such as 3.1.2.") { AppVersion($0) }
        let system = reading.optional("osVersion", "A version such as 14.5.1, or one number such as 31.") {
            AppVersion.majorOfSystem($0)
        }
        let platform = reading.optional("platform", "ANDROID or IOS.") { VersionRule.Platform(octets: $0) }
        guard let app, reading.violations.isEmpty else { throw Refusal(violations: reading.violations) }
        self.app = app
        if let application, let system, let platform {
            client = Client(application: application, majorSystemVersion: system, platform: platform)
        } else {
            client = nil
        }
    }

    /// The name of the app in a request that may be wrong otherwise: errors are signed too.
    static func app(in target: RequestTarget) -> AppName? {
        let values = target.values("appName")
        return values.count == 1 ? AppName(octets: values[0]) : nil
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

        mutating func optional<Value>(_ name: String, _ hint: String, _ read: ([UInt8]) -> Value?) -> Value? {
            let values = target.values(name)
            guard let first = values.first else { return nil }
            guard values.count == 1 else {
                violate(name, values.last, "Once.")
                return nil
            }
            guard let value = read(first) else {
                violate(name, first, hint)
                return nil
            }
            return value
        }

        private mutating func violate(_ name: String, _ value: [UInt8]?, _ hint: String) {
            violations.append(ErrorBody.Violation(fieldName: name, invalidValue: value, hint: hint))
        }
    }
}
