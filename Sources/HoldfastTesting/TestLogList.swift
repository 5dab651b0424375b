public import Foundation
import Holdfast

/// A log list in Google's schema, version 3, and its signature.
///
/// ```swift
/// var list = try TestLogList(issuedAt: clock.now)
/// list.operators["Example"] = [TestLogList.Entry(log)]
/// let read = try TransparencyLogList(verifying: list.json, signature: list.signature(), key: key)
/// ```
public struct TestLogList: Sendable {
    /// A log in the list.
    public struct Entry: Sendable {
        /// The log.
        public var log: TestTransparencyLog
        /// The key in `state`, such as `usable`; nil to omit `state`.
        public var state: String?
        /// The time in `state`, such as the time of retirement.
        public var since: Date
        /// `start_inclusive` and `end_exclusive`; nil for neither.
        public var interval: (start: Date, end: Date)?
        /// `previous_operators`, with the `end_time` of each.
        public var formerOperators: [(name: String, end: Date)] = []
        /// Whether it is listed in `tiled_logs` instead of `logs`.
        public var isTiled = false
        /// `log_type`.
        public var type = "prod"

        /// Makes an entry for a log, which by default has been usable since 1970.
        public init(
            _ log: TestTransparencyLog, state: String? = "usable", since: Date = Date(timeIntervalSince1970: 0)
        ) {
            self.log = log
            self.state = state
            self.since = since
        }
    }

    /// The operators by name, each with its logs.
    public var operators: [String: [Entry]] = [:]
    /// `log_list_timestamp`.
    public var issuedAt: Date
    /// The key that signs the list.
    public let key: TestKey

    /// Makes a list without logs.
    public init(issuedAt: Date, key: TestKey.Choice = .p256) throws(TestKitError) {
        self.issuedAt = issuedAt
        self.key = try TestKey(key)
    }

    /// The list: JSON in UTF-8.
    public var json: Data {
        let operators = operators.sorted { $0.key < $1.key }.map { name, entries in
            func logs(_ isTiled: Bool) -> String {
                entries.filter { $0.isTiled == isTiled }.map(\.json).joined(separator: ",\n")
            }
            return """
                {"name": \(Self.text(name)), "email": ["ct@example.com"], "logs": [\(logs(false))],
                "tiled_logs": [\(logs(true))]}
                """
        }
        let text = """
            {"version": "1.0", "log_list_timestamp": "\(Self.time(issuedAt))",
            "operators": [\(operators.joined(separator: ",\n"))]}
            """
        return Data(text.utf8)
    }

    /// The signature over ``json``.
    public func signature() throws(TestKitError) -> Data { Data(try key.signature(of: Array(json))) }

    fileprivate static func text(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    fileprivate static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension TestLogList.Entry {
    fileprivate var json: String {
        var fields = [
            "\"description\": \(TestLogList.text(log.name))",
            "\"log_id\": \"\(Data(log.identifier).base64EncodedString())\"",
            "\"key\": \"\(Data(log.key.subjectPublicKeyInfoDER).base64EncodedString())\"", "\"mmd\": 86400",
            "\"log_type\": \(TestLogList.text(type))",
            isTiled
                ? "\"submission_url\": \"https://log.example/\", \"monitoring_url\": \"https://tiles.example/\""
                : "\"url\": \"https://log.example/\"",
        ]
        if let state { fields.append("\"state\": {\"\(state)\": {\"timestamp\": \"\(TestLogList.time(since))\"}}") }
        if let interval {
            fields.append(
                "\"temporal_interval\": {\"start_inclusive\": \"\(TestLogList.time(interval.start))\", "
                    + "\"end_exclusive\": \"\(TestLogList.time(interval.end))\"}")
        }
        if !formerOperators.isEmpty {
            let former = formerOperators.map {
                "{\"name\": \(TestLogList.text($0.name)), \"end_time\": \"\(TestLogList.time($0.end))\"}"
            }
            fields.append("\"previous_operators\": [\(former.joined(separator: ", "))]")
        }
        return "{\(fields.joined(separator: ", "))}"
    }
}
