public import Foundation

extension PinFile {
    /// Reads a file.
    /// - Parameter json: the bytes of the file, at most 8 MiB.
    /// - Throws: ``PinFileError`` that names the field, the expected value and the remedy.
    public init(json: Data) throws(PinFileError) {
        var reader: PinFileReader
        do throws(DocumentError) {
            reader = PinFileReader(json: try StrictJSONReader([UInt8](json), maximumBytes: PinFileLimits.bytes))
        } catch {
            throw PinFileError(error, at: "")
        }
        self = try reader.file()
    }

    /// Reads a file.
    /// - Parameter url: the URL of a file of at most 8 MiB; never that of a download.
    /// - Throws: ``PinFileError``; `unreadableFile` if it cannot be read from the file system.
    public init(contentsOf url: URL) throws(PinFileError) {
        let data: Data
        do {
            guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
            data = try AtomicFile.read(url, maximumBytes: PinFileLimits.bytes)
        } catch CocoaError.fileReadTooLarge {
            throw PinFileError(
                .tooLarge, at: nil, expected: "at most \(PinFileLimits.bytes) bytes",
                found: "more in \(url.lastPathComponent.quoted)")
        } catch {
            throw PinFileError(
                .unreadableFile, at: nil, expected: "a pin file",
                found: "\(AtomicFile.reason(error, at: url.path)): \(url.lastPathComponent.quoted)")
        }
        try self.init(json: data)
    }
}

/// Reads the fields of a pin file in their order, and refuses unexpected values where they occur.
struct PinFileReader {
    /// The names of all fields. A field in the wrong object is treated as unknown.
    private static let names = Set(PinFileShape.allCases.flatMap(\.fields.keys))

    private(set) var json: StrictJSONReader
    private var critical: [[UInt8]] = []
    /// Names of fields that occurred in the wrong object; at most as many as there are names.
    private var misplaced: Set<String> = []

    init(json: StrictJSONReader) { self.json = json }

    mutating func file() throws(PinFileError) -> PinFile {
        do {
            return try document()
        } catch let error as PinFileError {
            throw error
        } catch let error as DocumentError {
            throw PinFileError(error, at: json.path)
        } catch {
            throw PinFileError(.notJSON, at: json.path, expected: "a pin file", found: ForeignErrorText.found(error))
        }
    }

    private mutating func document() throws -> PinFile {
        var isOfSchema = false
        var app: String?
        var (issuedAt, notAfter): (Date?, Date?)
        var refresh: PinFile.Refresh?
        var hosts: [PinFile.Host]?
        var anchors: [X509Certificate] = []
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "schema":
                try schema()
                isOfSchema = true
            case "app": app = try text(atMost: PinFileLimits.appBytes, of: "a name of an app")
            case "issuedAt": issuedAt = try time()
            case "notAfter": notAfter = try time()
            case "refresh": refresh = try self.refresh()
            case "hosts": hosts = try list(atMost: PinFileLimits.hosts, of: "hosts") { try $0.host() }
            case "debugAnchors":
                anchors = try list(atMost: PinFileLimits.debugAnchors, of: "anchors") { try $0.anchor() }
            case "critical":
                critical = try list(atMost: PinFileLimits.criticalFields, of: "names") {
                    Array(try $0.json.octets(atMost: DocumentLimits.keyBytes, of: "the name of a field"))
                }
            default: try skip(field)
            }
        }
        try json.finish()
        // The schema is checked first, because another schema may have other required fields.
        guard isOfSchema else { throw missing("schema") }
        try checkCritical()
        guard let hosts else { throw missing("hosts") }
        return try PinFile(
            app: app, issuedAt: issuedAt, notAfter: notAfter, refresh: refresh, hosts: hosts, debugAnchors: anchors)
    }

    private mutating func schema() throws {
        let schema = try json.integer()
        guard schema == PinFile.schema else {
            throw PinFileError(.unsupportedSchema, at: json.path, expected: "\(PinFile.schema)", found: "\(schema)")
        }
    }

    private mutating func refresh() throws -> PinFile.Refresh {
        var (after, grace): (Int?, Int) = (nil, 0)
        var jitter = PinFile.Fraction.zero
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "after": after = try json.integer(as: Int.self)
            case "jitter": jitter = try fraction()
            case "grace": grace = try json.integer(as: Int.self)
            default: try skip(field)
            }
        }
        guard let after else { throw missing("after") }
        return try here { () throws(PinFileError) in
            try PinFile.Refresh(after: after, jitter: jitter, grace: grace)
        }
    }

    private mutating func anchor() throws -> X509Certificate {
        // Base64 takes four characters for three bytes.
        let text = try json.octets(atMost: PinFileLimits.anchorBytes * 4 / 3 + 4, of: "a certificate")
        guard let der = CanonicalBase64.decode(text), let certificate = try? X509Certificate(der: der) else {
            throw PinFileError(
                .invalidValue, at: json.path, expected: "the Base64 of a certificate in DER", found: "another text",
                remedy: "Put the lines of its PEM file, without the first and the last, into one.")
        }
        return certificate
    }

    private func checkCritical() throws {
        for (index, name) in critical.enumerated() {
            let text = String(decoding: name, as: UTF8.self)
            // Only short ASCII texts may be looked up.
            let isKnown = text.isASCII(atMost: 32) && Self.names.contains(text) && !misplaced.contains(text)
            guard isKnown else {
                throw PinFileError(
                    .unknownCriticalField, at: "critical[\(index)]", expected: "fields of schema \(PinFile.schema)",
                    found: text.quoted)
            }
        }
    }
}

// MARK: - Hosts

extension PinFileReader {
    private mutating func host() throws -> PinFile.Host {
        var pattern: HostPattern?
        var includesSubdomains = false
        var ports: [Int] = []
        var isRetired = false
        var (enforcement, requirement): (PinSet.Enforcement?, PinSet.Requirement?)
        var afterExpiry: PinSet.ExpiryAction?
        var pins: [PinFile.KeyPin]?
        var report: PinFile.Report?
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "host": pattern = try self.pattern()
            case "includeSubdomains": includesSubdomains = try json.boolean()
            case "ports": ports = try self.ports()
            case "retired": isRetired = try json.boolean()
            case "mode": enforcement = try choice()
            case "require": requirement = try choice()
            case "onExpiry": afterExpiry = try choice()
            case "pins": pins = try list(atMost: PinFileLimits.pins, of: "pins") { try $0.pin() }
            case "report": report = try self.report()
            default: try skip(field)
            }
        }
        guard let pattern else { throw missing("host") }
        let whole = try widened(pattern, includesSubdomains)
        if isRetired {
            let others: [(String, Bool)] = [
                ("pins", pins != nil), ("mode", enforcement != nil), ("require", requirement != nil),
                ("onExpiry", afterExpiry != nil), ("report", report != nil),
            ]
            if let other = others.first(where: \.1)?.0 {
                throw PinFileError(
                    .contradiction, at: "\(json.path).\(other)", expected: "no \(other) for a retired host",
                    found: "both")
            }
            return try here { () throws(PinFileError) in try .retired(whole, ports: ports) }
        }
        guard let pins else { throw missing("pins") }
        return try here { () throws(PinFileError) in
            try PinFile.Host(
                whole, ports: ports, enforcement: enforcement ?? .enforce, requirement: requirement ?? .any,
                afterExpiry: afterExpiry ?? .reject, pins: pins, report: report)
        }
    }

    private mutating func pattern() throws -> HostPattern {
        let text = try text(atMost: PinFileLimits.hostBytes, of: "a host")
        return try refusing(as: .invalidHost, at: json.path) { () throws(HostPatternError) in try HostPattern(text) }
    }

    private func widened(_ pattern: HostPattern, _ includesSubdomains: Bool) throws -> HostPattern {
        guard includesSubdomains, pattern.scope != .subtree else { return pattern }
        let field = "\(json.path).includeSubdomains"
        guard pattern.scope == .exact else {
            throw PinFileError(
                .contradiction, at: field, expected: "a name without a wildcard", found: "\(pattern)",
                remedy: "Write **.DOMAIN, or the name alone with includeSubdomains.")
        }
        return try refusing(as: .invalidHost, at: field) { () throws(HostPatternError) in
            try HostPattern(host: pattern.base.name, includeSubdomains: true)
        }
    }

    private mutating func ports() throws -> [Int] {
        let ports = try list(atMost: PinFileLimits.ports, of: "ports") { try $0.json.integer(as: Int.self) }
        guard !ports.isEmpty else {
            throw PinFileError(
                .invalidValue, at: json.path, expected: "at least one port", found: "none",
                remedy: "Leave the field out when every port is meant.")
        }
        return ports
    }

    private mutating func pin() throws -> PinFile.KeyPin {
        var pin: Pin?
        var (role, state): (PinFile.KeyPin.Role?, PinFile.KeyPin.State?)
        var notAfter: Date?
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "pin": pin = try key()
            case "role": role = try choice()
            case "state": state = try choice()
            case "notAfter": notAfter = try time()
            default: try skip(field)
            }
        }
        guard let pin else { throw missing("pin") }
        return try here { () throws(PinFileError) in
            try PinFile.KeyPin(pin, role: role ?? .leaf, state: state ?? .active, notAfter: notAfter)
        }
    }

    /// Here each pin has only one spelling; other spellings, such as curl's with two slashes, are left to
    /// ``Pin/init(_:)``.
    private mutating func key() throws -> Pin {
        let text = try text(atMost: 256, of: "a pin")
        let pin = try refusing(as: .invalidPin, at: json.path) { () throws(PinError) in try Pin(text) }
        // The initializer checks whether the pin is of a key.
        guard pin.subject == .certificate || pin.description.hasSameOctets(as: text) else {
            throw PinFileError(.invalidPin, at: json.path, expected: pin.description, found: text.quoted)
        }
        return pin
    }

    private mutating func report() throws -> PinFile.Report {
        var url: String?
        var (failures, successes) = (PinFile.Fraction.one, PinFile.Fraction.zero)
        try json.beginObject()
        while let field = try json.nextKey() {
            switch field {
            case "url": url = try text(atMost: PinFileLimits.urlBytes, of: "a URL")
            case "failureFraction": failures = try fraction()
            case "successFraction": successes = try fraction()
            default: try skip(field)
            }
        }
        guard let url else { throw missing("url") }
        return try here { () throws(PinFileError) in
            try PinFile.Report(url: url, failureFraction: failures, successFraction: successes)
        }
    }
}

// MARK: - Values

extension PinFileReader {
    private mutating func skip(_ field: String) throws {
        if Self.names.contains(field) { misplaced.insert(field) }
        try json.skipValue()
    }

    private mutating func list<Element>(
        atMost limit: Int, of what: String, _ read: (inout Self) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try json.beginArray()
        while try json.nextElement() {
            guard elements.count < limit else {
                throw PinFileError(.tooMany, at: json.path, expected: "at most \(limit) \(what)", found: "more")
            }
            elements.append(try read(&self))
        }
        return elements
    }

    private mutating func text(atMost limit: Int, of what: String) throws -> String {
        String(decoding: try json.octets(atMost: limit, of: what), as: UTF8.self)
    }

    private mutating func time() throws -> Date {
        let text = try json.octets(atMost: 64, of: "a time")
        guard let seconds = PinFileTime.read(text) else {
            throw PinFileError(
                .invalidTime, at: json.path, expected: PinFileTime.form,
                found: String(decoding: text, as: UTF8.self).quoted)
        }
        return Date(wholeSeconds: seconds)
    }

    private mutating func fraction() throws -> PinFile.Fraction {
        PinFile.Fraction(millionths: try json.millionths()) ?? .zero
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>() throws -> Choice {
        let octets = try json.octets(atMost: 64, of: "a word")
        guard let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(octets) }) else {
            throw PinFileError(
                .invalidValue, at: json.path, expected: Choice.allCases.map(\.rawValue).joined(separator: ", "),
                found: String(decoding: octets, as: UTF8.self).quoted)
        }
        return choice
    }

    private func missing(_ field: String) -> PinFileError {
        PinFileError(.missingField, at: field, expected: "the field", found: "none").within(json.path)
    }

    /// Turns another error into one of the file.
    private func refusing<Value, Failure: HoldfastError>(
        as code: PinFileError.Code, at field: @autoclosure () -> String, _ make: () throws(Failure) -> Value
    ) throws -> Value {
        do throws(Failure) {
            return try make()
        } catch {
            throw PinFileError(code, at: field(), expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    /// Makes a value from what was read; its error names the current position.
    private func here<Value>(_ make: () throws(PinFileError) -> Value) throws -> Value {
        do throws(PinFileError) {
            return try make()
        } catch {
            throw error.within(json.path)
        }
    }
}
