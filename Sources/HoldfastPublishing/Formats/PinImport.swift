public import Foundation
public import Holdfast

/// A pin file made from another system's configuration, with a list of settings that a pin file cannot express.
///
/// It never ignores a part of the configuration: anything that it does not understand is an error with its line.
public struct PinImport {
    /// The certificates of a path that imported pins are for, if their system does not specify them.
    public enum Role: String, Sendable, CaseIterable {
        /// The server's own certificate.
        case leaf
        /// The certificates above it.
        case issuer
        /// All certificates, as these systems match pins.
        case both

        fileprivate var roles: [PinFile.KeyPin.Role] {
            switch self {
            case .leaf: [.leaf]
            case .issuer: [.issuer]
            case .both: [.leaf, .issuer]
            }
        }
    }

    /// The settings of another system for a domain.
    struct Domain {
        let field: String
        /// The line on which it begins.
        let line: Int
        let name: String
        let includesSubdomains: Bool
        /// Whether only names with one more label are subdomains.
        var isOneLabelOnly = false
        /// Hashes that may match anywhere in a path, with their lines.
        var hashes: [(text: String, line: Int)] = []
        var leaves: [(text: String, line: Int)] = []
        var issuers: [(text: String, line: Int)] = []
        /// The last second at which the pins are valid.
        var end: Date?
        var isEnforced = true
        var reportURL: String?
        /// Whether the domain is excluded from the pins of its parent domain.
        var isException = false
        /// The pattern itself, if the system has the same kinds of patterns as a pin file.
        var pattern: HostPattern?
    }

    /// The certificates that pins are for if their system has no roles.
    public let role: Role
    private let backups: Set<Pin>
    private var foundBackups: Set<Pin> = []
    private var hosts: [PinFile.Host] = []
    private var placeholders: Set<PinExport.Loss> = []
    /// The entries for a domain and all its subdomains, by the domain.
    private var subtrees: [String: PinFile.Host] = [:]
    /// Settings that the file cannot express.
    public private(set) var losses: [PinExport.Loss] = []
    /// Settings that the file expresses in another way.
    public private(set) var notes: [PinExport.Loss] = []
    /// The number of hashes read and of names looked up, for tests. It grows with the size of the configuration.
    package private(set) var steps = 0

    /// Reads a configuration.
    /// - Parameter data: the file.
    /// - Parameter source: the system whose configuration it is.
    /// - Parameter role: the certificates that pins are for if their system has no roles.
    /// - Parameter backups: the pins of backup keys, which other systems do not distinguish from keys in use.
    /// - Throws: ``PublishingError`` `invalidDocument` that names the line that is not understood, or `invalidInput`
    ///   for a backup that the configuration does not contain.
    public init(_ data: Data, from source: Source, role: Role, backups: Set<Pin> = []) throws(PublishingError) {
        self.role = role
        self.backups = backups
        let found: [Domain]
        switch source {
        case .trustkit: found = try TrustKitReading.domains(in: data, &losses, &notes)
        case .ats: found = try TransportSecurityReading.domains(in: data, &notes)
        case .android: found = try AndroidReading.domains(in: data, &losses, &notes)
        case .okhttp: found = try OkHttpReading.domains(in: data)
        }
        guard !found.isEmpty else { throw Self.failure("has no pinned domain for \(source.rawValue)") }
        let domains = found.filter { isEffective($0, for: source) }
        for domain in domains where !domain.isException {
            for host in try pinned(domain) {
                hosts.append(host)
                if host.pattern.scope == .subtree { subtrees[host.pattern.base.name] = host }
            }
        }
        for domain in domains where domain.isException { try except(domain) }
        if let stray = backups.subtracting(foundBackups).map(\.description).min() {
            throw PublishingError(
                .invalidInput, of: stray, expected: "a backup that is among the pins of the configuration",
                found: "none of them", remedy: "Import without it, and add it with holdfastctl pins add.")
        }
        if backups.isEmpty {
            notes.append(
                PinExport.Loss(
                    field: "state",
                    what: "\(source.rawValue) does not say which pins are backups: all are active (see --backup)"
                ))
        }
        if source == .ats {
            noteOverlaps(of: domains)
            return
        }
        notes.append(
            PinExport.Loss(
                field: "role", what: "\(source.rawValue) does not say whose key a pin is: \(role.rawValue) (see --role)"
            ))
    }

    /// The pin file.
    /// - Throws: ``PublishingError`` `invalidDocument` if a pin file cannot express it, for example because a host has
    ///   too many pins, or because no host is left.
    public func file() throws(PublishingError) -> PinFile {
        guard !hosts.isEmpty else {
            let reasons = losses.isEmpty ? "" : ": " + losses.map(\.text).joined(separator: "; ")
            throw Self.failure("has no host that a pin file can pin\(reasons)")
        }
        do throws(PinFileError) {
            return try PinFile(hosts: hosts)
        } catch {
            throw Self.failure("makes no pin file: \(ForeignErrorText.found(error))", remedy: error.remedy)
        }
    }

    /// Whether the system ever compares the name with a host. Except for OkHttp, these systems compare names as they
    /// are written: one with a star, a scheme, a port or a dot at an end pins nothing, and must not start to.
    private mutating func isEffective(_ domain: Domain, for source: Source) -> Bool {
        guard domain.pattern == nil, !Self.isLiteralName(domain.name) else {
            noteCapitals(of: domain, for: source)
            return true
        }
        let hint =
            domain.name.utf8.contains(UInt8(ascii: "*")) && source != .okhttp
            ? "; it takes the star of \(domain.name.quoted) for a character of the name" : ""
        losses.append(
            PinExport.Loss(
                field: domain.field,
                what: "\(source.reader) never matches this name, so that it pins nothing\(hint); it is left out "
                    + "(line \(domain.line))"))
        return false
    }

    /// Android and OkHttp convert names to lower case; TrustKit does not, and Apple does not document it.
    private mutating func noteCapitals(of domain: Domain, for source: Source) {
        guard source == .trustkit || source == .ats, domain.name != domain.name.lowercased() else { return }
        notes.append(
            PinExport.Loss(
                field: domain.field,
                what: "\(source.reader) may take capitals for other letters, so that it pins nothing; here the pins of "
                    + "\(domain.name.lowercased()) count"))
    }

    private static func isLiteralName(_ name: String) -> Bool {
        guard name.isASCII(atMost: 255) else { return false }
        guard let host = try? DialedHost(name) else {
            // Another error in the name is reported separately.
            return !name.utf8.contains(UInt8(ascii: "*")) && !name.contains("://") && !name.hasPrefix(".")
                && !name.hasSuffix(".")
        }
        return host.port == nil && host.name.utf8.elementsEqual(name.lowercased().utf8)
    }

    /// Apple does not document which of two entries applies to a host that both cover.
    private mutating func noteOverlaps(of domains: [Domain]) {
        let wide = Set(domains.filter(\.includesSubdomains).map { $0.name.lowercased() })
        for domain in domains {
            let name = domain.name.lowercased()
            guard let dot = name.firstIndex(of: "."), wide.contains(String(name[name.index(after: dot)...])) else {
                continue
            }
            notes.append(
                PinExport.Loss(
                    field: domain.field,
                    what: "Apple does not say whether the entry of the domain above counts for it as well: here this "
                        + "one decides alone"))
        }
    }

    private mutating func pinned(_ domain: Domain) throws(PublishingError) -> [PinFile.Host] {
        var pins: [PinFile.KeyPin] = []
        for (hashes, roles) in [(domain.hashes, role.roles), (domain.leaves, [.leaf]), (domain.issuers, [.issuer])] {
            for role in roles { try add(hashes, role, of: domain, to: &pins) }
        }
        if pins.isEmpty, let last = losses.last, placeholders.contains(last), last.field == domain.field {
            throw Self.failure("has nothing but placeholders for \(domain.field): \(last.what)")
        }
        let both = !domain.leaves.isEmpty && !domain.issuers.isEmpty
        do {
            return try Self.patterns(of: domain).map {
                try PinFile.Host(
                    $0, enforcement: domain.isEnforced ? .enforce : .reportOnly,
                    requirement: both ? .oneOfEachRole : .any,
                    afterExpiry: domain.end == nil ? .reject : .standardValidation, pins: pins,
                    report: try domain.reportURL.map { try PinFile.Report(url: $0) })
            }
        } catch {
            throw Self.failure(in: domain.field, error, line: domain.line)
        }
    }

    /// Adds the pins of hashes in a role, each once.
    private mutating func add(
        _ hashes: [(text: String, line: Int)], _ role: PinFile.KeyPin.Role, of domain: Domain,
        to pins: inout [PinFile.KeyPin]
    ) throws(PublishingError) {
        var seen: Set<Pin> = []
        for hash in hashes {
            steps += 1
            do {
                let pin = try Pin("sha256/\(hash.text)")
                // A repeated hash is one pin.
                guard seen.insert(pin).inserted else { continue }
                let isBackup = backups.contains(pin)
                if isBackup { foundBackups.insert(pin) }
                if let placeholder = PlaceholderDigest(pin.digest) {
                    let loss = PinExport.Loss(
                        field: domain.field,
                        what: "\(pin) is \(placeholder.text), a placeholder: no key has it (line \(hash.line))")
                    // This is reached for each role of a pin.
                    if placeholders.insert(loss).inserted { losses.append(loss) }
                    continue
                }
                pins.append(
                    try PinFile.KeyPin(pin, role: role, state: isBackup ? .backup : .active, notAfter: domain.end))
            } catch {
                throw Self.failure(in: domain.field, error, line: hash.line)
            }
        }
    }

    /// The patterns that together cover what the domain covers.
    private static func patterns(of domain: Domain) throws -> [HostPattern] {
        if let pattern = domain.pattern { return [pattern] }
        guard domain.includesSubdomains, domain.isOneLabelOnly else {
            return [try HostPattern(host: domain.name, includeSubdomains: domain.includesSubdomains)]
        }
        let name = try HostPattern(host: domain.name, includeSubdomains: false)
        return [name, try HostPattern("*.\(name.base.name)")]
    }

    /// Adds an exception. A pin file cannot exclude a name from a pattern, but it can leave the name to standard
    /// validation.
    private mutating func except(_ domain: Domain) throws(PublishingError) {
        do {
            let pattern = try HostPattern(host: domain.name, includeSubdomains: domain.includesSubdomains)
            guard let above = subtree(over: pattern.base) else {
                losses.append(
                    PinExport.Loss(field: domain.field, what: "has no pins, and a pin file lists only hosts that do"))
                return
            }
            hosts.append(
                try PinFile.Host(
                    pattern, enforcement: .reportOnly, requirement: above.requirement, afterExpiry: above.afterExpiry,
                    pins: above.pins))
        } catch {
            throw Self.failure(in: domain.field, error, line: domain.line)
        }
        notes.append(
            PinExport.Loss(field: domain.field, what: "is not pinned: mode report, so that standard validation decides")
        )
    }

    /// The nearest entry whose pins cover a name: that of the name itself, else that of the name without its first
    /// label, and so on. A name has at most 127 labels.
    private mutating func subtree(over host: DialedHost) -> PinFile.Host? {
        var name = host.name[...]
        while true {
            steps += 1
            if let found = subtrees[String(name)] { return found }
            guard let dot = name.firstIndex(of: ".") else { return nil }
            name = name[name.index(after: dot)...]
        }
    }

    /// The last second before a day, `yyyy-MM-dd`, in UTC.
    static func lastSecond(before day: String, line: Int) throws(PublishingError) -> Date {
        let parts = day.isASCII(atMost: 10) ? day.split(separator: "-", omittingEmptySubsequences: false) : []
        guard day.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2],
            let date = try? Date("\(day)T00:00:00Z", strategy: .iso8601),
            date.formatted(.iso8601.year().month().day()) == day
        else {
            throw failure("has the expiry \(day.quotedAddress), which is no day like 2030-01-31 (line \(line))")
        }
        return date.addingTimeInterval(-1)
    }

    /// The path of a field whose last part may come from a stranger: plain characters are written unchanged, any other
    /// name is quoted, so that it cannot forge a line.
    static func field(_ name: String, in parent: String) -> String {
        let isPlain =
            !name.isEmpty && name.isASCII(atMost: 255)
            && name.utf8.allSatisfy {
                "-._*:[]".utf8.contains($0) || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
        return isPlain ? "\(parent).\(name)" : "\(parent) \(name.quoted)"
    }

    /// An error about the configuration.
    /// - Parameters:
    ///   - what: the problem of the configuration, beginning with a verb.
    ///   - remedy: the fix.
    static func failure(
        _ what: String, remedy: String = "Change that in a copy of the file."
    ) -> PublishingError {
        PublishingError(
            .invalidDocument, expected: "a configuration that is understood in full", found: "one that \(what)",
            remedy: remedy)
    }

    /// An error about a field, with the facts of another error.
    static func failure(in field: String, _ error: any Error, line: Int) -> PublishingError {
        PublishingError(
            .invalidDocument, expected: "a configuration that is understood in full",
            found: "\(ForeignErrorText.found(error)), in \(field) (line \(line))",
            remedy: "Change that in a copy of the file.")
    }
}
