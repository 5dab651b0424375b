import struct Foundation.Date

/// Reads a log list in Google's schema, version 3 (`log_list_schema.json` of the Chromium project's list).
///
/// Unknown fields are skipped and logs in an unknown state never count, so that a newer list does not make every server
/// untrusted. Anything that violates the schema is an error.
struct LogListReader {
    /// Maximum number of logs. The public web has a few dozen, or two hundred including those that have ended.
    static let maximumLogs = 4_096
    static let maximumFormerOperators = 64
    /// Maximum number of bytes of a name.
    static let maximumName = 512
    /// Maximum number of bytes of a key in Base64; RSA of 8192 bits has 1,400.
    static let maximumKey = 4_096

    static let remedy = "Download the list again; if this happens again, ask its publisher."

    private var json: StrictJSONReader
    private var logs: [TransparencyLog] = []
    private var identifiers: Set<OctetString> = []

    static func read(_ octets: [UInt8]) throws(DocumentError) -> TransparencyLogList {
        do throws(DocumentError) {
            var reader = LogListReader(
                json: try StrictJSONReader(octets, maximumBytes: TransparencyLogList.maximumBytes))
            return try reader.list()
        } catch {
            if error.code == .canceled { throw error }
            throw DocumentError(
                error.code, entry: error.entry, field: error.field, expected: error.expected, found: error.found,
                remedy: remedy)
        }
    }

    private init(json: StrictJSONReader) { self.json = json }

    private mutating func list() throws(DocumentError) -> TransparencyLogList {
        var issuedAt: Date?
        var hasOperators = false
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "log_list_timestamp": issuedAt = try time()
            case "operators":
                hasOperators = true
                try json.beginArray()
                while try json.nextElement() { try readOperator() }
            default: try json.skipValue()
            }
        }
        try json.finish()
        guard hasOperators else { throw json.missing("operators") }
        guard let issuedAt else { throw json.missing("log_list_timestamp") }
        return TransparencyLogList(logs, issuedAt: issuedAt)
    }

    private mutating func readOperator() throws(DocumentError) {
        var name: String?
        var found: [Log] = []
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "name": name = try text()
            case "logs", "tiled_logs":
                try json.beginArray()
                while try json.nextElement() {
                    guard logs.count + found.count < Self.maximumLogs else {
                        throw json.error(.tooManyEntries, "at most \(Self.maximumLogs) logs", "more")
                    }
                    found.append(try log(isTiled: field == "tiled_logs"))
                }
            default: try json.skipValue()
            }
        }
        guard let name else { throw json.missing("name") }
        for one in found {
            do throws(CertificateError) {
                logs.append(
                    try TransparencyLog(
                        name: one.name, key: one.key, operatorName: name, formerOperators: one.formerOperators,
                        state: one.isForTests ? nil : one.state, temporalInterval: one.interval, isTiled: one.isTiled))
            } catch {
                throw json.error(.invalidValue, field: "key", "the Base64 of a SubjectPublicKeyInfo", error.found)
            }
        }
    }

    /// A log before the name of its operator is known.
    private struct Log {
        var name = ""
        var key: [UInt8] = []
        var formerOperators: [TransparencyLog.FormerOperator] = []
        var state: TransparencyLog.State?
        var interval: TransparencyLog.TemporalInterval?
        var isForTests = false
        let isTiled: Bool
    }

    private mutating func log(isTiled: Bool) throws(DocumentError) -> Log {
        var log = Log(isTiled: isTiled)
        var identifier: [UInt8]?
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "description": log.name = try text()
            case "log_id": identifier = try octets(atMost: 44, of: "the Base64 of a SHA-256")
            case "key": log.key = try octets(atMost: Self.maximumKey, of: "the Base64 of a key")
            case "log_type": log.isForTests = try !json.octets(atMost: 64, of: "a kind").elementsEqual("prod".utf8)
            case "state": log.state = try state()
            case "temporal_interval": log.interval = try interval()
            case "previous_operators": log.formerOperators = try formerOperators()
            default: try json.skipValue()
            }
        }
        guard !log.key.isEmpty else { throw json.missing("key") }
        guard let identifier else { throw json.missing("log_id") }
        let hash = SHA256Digest.of(log.key)
        guard identifier == hash else {
            throw json.error(
                .invalidValue, field: "log_id", "the SHA-256 of the log's key",
                "another identifier at \(log.name.quoted)")
        }
        guard identifiers.insert(OctetString(hash[...])).inserted else {
            throw json.error(.invalidValue, field: "log_id", "each log once", "\(log.name.quoted) twice")
        }
        return log
    }

    /// A state, as the key of an object; nil if it is unknown.
    private mutating func state() throws(DocumentError) -> TransparencyLog.State? {
        var state: TransparencyLog.State?
        var count = 0
        try json.beginObject()
        while let word = try json.nextKey() {
            count += 1
            switch word {
            case "pending": state = .pending
            case "qualified": state = .qualified
            case "usable": state = .usable
            case "readonly": state = .readOnly
            case "rejected": state = .rejected
            case "retired":
                state = .retired(since: try retirement())
                continue
            default: break
            }
            try json.skipValue()
        }
        guard count == 1 else { throw json.error(.invalidValue, field: "state", "one state", "\(count)") }
        return state
    }

    private mutating func retirement() throws(DocumentError) -> Date {
        var date: Date?
        try json.beginObject()
        while let field = try json.nextKey() {
            if field == "timestamp" { date = try time() } else { try json.skipValue() }
        }
        guard let date else { throw json.missing("timestamp") }
        return date
    }

    private mutating func interval() throws(DocumentError) -> TransparencyLog.TemporalInterval {
        var (start, end): (Date?, Date?) = (nil, nil)
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "start_inclusive": start = try time()
            case "end_exclusive": end = try time()
            default: try json.skipValue()
            }
        }
        guard let start else { throw json.missing("start_inclusive") }
        guard let end else { throw json.missing("end_exclusive") }
        return TransparencyLog.TemporalInterval(start: start, end: end)
    }

    private mutating func formerOperators() throws(DocumentError) -> [TransparencyLog.FormerOperator] {
        var operators: [TransparencyLog.FormerOperator] = []
        try json.beginArray()
        while try json.nextElement() {
            guard operators.count < Self.maximumFormerOperators else {
                throw json.error(.tooManyEntries, "at most \(Self.maximumFormerOperators) operators of a log", "more")
            }
            var (name, end): (String?, Date?) = (nil, nil)
            try json.beginObject()
            while let field = try json.nextKey() {
                switch field {
                case "name": name = try text()
                case "end_time": end = try time()
                default: try json.skipValue()
                }
            }
            guard let name else { throw json.missing("name") }
            guard let end else { throw json.missing("end_time") }
            operators.append(TransparencyLog.FormerOperator(name: name, end: end))
        }
        return operators
    }

    // MARK: Values

    private mutating func text() throws(DocumentError) -> String {
        String(decoding: try json.octets(atMost: Self.maximumName, of: "a name"), as: UTF8.self)
    }

    private mutating func octets(atMost limit: Int, of what: String) throws(DocumentError) -> [UInt8] {
        guard let octets = CanonicalBase64.decode(try json.octets(atMost: limit, of: what)) else {
            throw json.error(.notCanonicalBase64, what, "another text")
        }
        return octets
    }

    /// A time of RFC 3339 in UTC; a fraction of a second is dropped.
    private mutating func time() throws(DocumentError) -> Date {
        let text = try json.octets(atMost: 64, of: "a time")
        var whole = text
        if text.count > 20, text.dropFirst(19).first == UInt8(ascii: "."), text.last == UInt8(ascii: "Z"),
            text.dropFirst(20).dropLast().allSatisfy({ (0x30...0x39).contains($0) })
        {
            whole = text.prefix(19) + [UInt8(ascii: "Z")]
        }
        guard let seconds = PinFileTime.read(whole) else {
            throw json.error(.invalidValue, PinFileTime.form, String(decoding: text, as: UTF8.self).quoted)
        }
        return Date(wholeSeconds: seconds)
    }
}
