import Foundation
public import Holdfast
import HoldfastSigning

/// A pin file in another system's format, with a list of what that format cannot express.
public struct PinExport: Sendable {
    /// A host in the form for another system.
    struct Entry: Sendable {
        let pattern: HostPattern
        let ports: [Int]
        /// Distinct pins, in the order of the file.
        let leaves: [Pin]
        let issuers: [Pin]
        /// The day at whose first instant the pins end; nil if they do not expire.
        let lastDay: Day?
        let isEnforced: Bool
        let reportURL: String?
        /// Whether the entry covers names below the name as well, as deep as the format allows.
        let includesSubdomains: Bool
        var annotations = PinAnnotations()

        /// The description of a pin, for people.
        func title(of pin: Pin) -> String? { annotations.titles[pin] }
        /// The description with the warning before it, for formats without a separate line for warnings.
        func comment(of pin: Pin) -> String? {
            let facts = [warning, title(of: pin)].compactMap(\.self)
            return facts.isEmpty ? nil : facts.joined(separator: " ")
        }
        /// The warning for readers.
        var warning: String? { annotations.warnings[pattern] }

        var name: String { pattern.base.name }
        /// The widest pattern for which the entry may be used.
        var reach: HostPattern {
            guard includesSubdomains, pattern.scope == .exact else { return pattern }
            return (try? HostPattern("*.\(name)")) ?? pattern
        }
        /// Every pin once.
        var pins: [Pin] { leaves + issuers.filter { !leaves.contains($0) } }
    }

    /// A day of the calendar in UTC.
    struct Day: Sendable {
        /// The first instant at which the pins have ended.
        let end: Date

        /// The day, `yyyy-MM-dd`, at the beginning of which other systems stop pinning.
        var text: String { end.formatted(.iso8601.year().month().day()) }
    }

    /// Something that is not expressed, with the path of the field.
    public struct Loss: Sendable, Hashable {
        /// The path of the field.
        public let field: String
        /// The part that is not expressed, or how it is expressed instead.
        public let what: String

        /// `FIELD: WHAT`, for people.
        public var text: String { "\(field): \(what)" }
    }

    /// The file that is exported.
    public let file: PinFile
    /// The format into which it is exported.
    public let format: ExportFormat
    private let annotations: PinAnnotations
    private(set) var entries: [Entry] = []
    /// Settings for which clients would behave differently from the file.
    public private(set) var losses: [Loss] = []
    /// Omissions without any effect on clients.
    public private(set) var notes: [Loss] = []

    /// Compares the file with what the format can express.
    /// - Parameters:
    ///   - file: the pin file.
    ///   - format: the other system's format.
    ///   - unknownFields: the paths of fields in the file that this version does not know.
    public init(_ file: PinFile, as format: ExportFormat, unknownFields: [String] = []) {
        self.init(file, as: format, annotations: PinAnnotations(), unknownFields: unknownFields)
    }

    /// Compares the file with what the format can express, for formats that need whole keys as well.
    /// - Parameters:
    ///   - file: the pin file.
    ///   - format: the other system's format.
    ///   - keys: the keys of pins in the file; others are ignored.
    public init(_ file: PinFile, as format: ExportFormat, keys: [SubjectPublicKeyInfo]) {
        var annotations = PinAnnotations()
        for key in keys { annotations.keys[key.sha256Pin] = Array(key.der) }
        self.init(file, as: format, annotations: annotations)
    }

    /// - Parameter annotations: facts about the pins in addition to the file.
    package init(
        _ file: PinFile, as format: ExportFormat, annotations: PinAnnotations,
        unknownFields: [String] = []
    ) {
        self.file = file
        self.format = format
        self.annotations = annotations
        for field in unknownFields { lose(field, "is not a field that this version knows; it is left out") }
        guard !format.saysEverything else { return }
        noteWhatIsOfTheFile()
        let pairs = format.mergesOneLabel ? Self.pairs(file.hosts) : []
        for (index, host) in file.hosts.enumerated() {
            // The entry for the name itself covers both.
            if host.pattern.scope == .oneLabel, pairs.contains(host.pattern.base) { continue }
            add(host, at: "hosts[\(index)]", isPair: pairs.contains(host.pattern.base))
        }
        nameLostHalves(of: pairs)
        findOverlaps()
        findCoveredOmissions()
    }

    /// Reports the entries for one more label that are left out together with the entry of their name.
    private mutating func nameLostHalves(of pairs: Set<DialedHost>) {
        let written = Set(entries.map(\.pattern))
        for (index, host) in file.hosts.enumerated()
        where host.pattern.scope == .oneLabel && pairs.contains(host.pattern.base)
            && !written.contains(HostPattern(host.pattern.base))
        {
            lose("hosts[\(index)].host", "\(host.pattern) is left out with the entry of \(host.pattern.base)")
        }
    }

    /// The text, as a whole file or as a fragment for one.
    /// - Parameter isFragment: whether to make only the part for an existing file.
    /// - Throws: ``PublishingError`` `invalidInput` or `notExpressible` for Alamofire, which needs whole keys.
    public func text(isFragment: Bool = false) throws(PublishingError) -> String {
        switch format {
        case .trustkit: PropertyListText(entries: entries).trustKit(isFragment: isFragment)
        case .ats: PropertyListText(entries: entries).transportSecurity(isFragment: isFragment)
        case .android:
            AndroidText(entries: entries, debugAnchors: file.debugAnchors.count).text(isFragment: isFragment)
        case .okhttp: CodeText(entries: entries).okHTTP(isFragment: isFragment)
        case .curl: CodeText(entries: entries).curl(isFragment: isFragment)
        case .tlsa: CodeText(entries: entries).tlsa
        case .swift: CodeText.swift(file, annotations, isFragment: isFragment)
        case .json: String(decoding: file.json, as: UTF8.self)
        case .alamofire: try AlamofireText(entries: entries).text(isFragment: isFragment)
        }
    }

    /// Whether the format cannot express any part of the file.
    public var isEmpty: Bool { !format.saysEverything && entries.isEmpty }

    /// The warnings for operators before they use the text: the hosts that the other system would not accept.
    public var warnings: [String] {
        entries.filter { format == .trustkit && $0.pins.count < 2 }
            .map { "TrustKit stops an app that has one pin for \($0.pattern)" }
    }

    // MARK: Losses and notes

    private mutating func noteWhatIsOfTheFile() {
        if file.app != nil { note("app", "is not said") }
        if file.issuedAt != nil { note("issuedAt", "is not said") }
        if file.refresh != nil { note("refresh", "\(format.reader) does not look for a newer file") }
        if format == .tlsa {
            note(
                "hosts",
                "clients that follow TLSA 3 1 1 go by the key alone, without issuers, names and ends (RFC 7671 5.1)")
        }
        guard !file.debugAnchors.isEmpty else { return }
        if format == .android {
            for index in file.debugAnchors.indices {
                note("debugAnchors[\(index)]", "put its DER into the resource raw/holdfast_debug_\(index)")
            }
        } else {
            note("debugAnchors", "are not said; debug builds reject what they would let in")
        }
    }

    private mutating func note(_ field: String, _ what: String) { notes.append(Loss(field: field, what: what)) }

    private mutating func lose(_ field: String, _ what: String) { losses.append(Loss(field: field, what: what)) }

    /// - Parameter isPair: whether another entry has the same settings for names with one more label.
    private mutating func add(_ host: PinFile.Host, at field: String, isPair: Bool) {
        guard canName(host, at: field) else { return }
        if host.pattern.scope == .subtree, !format.saysAnyDepth {
            lose(
                "\(field).host",
                "\(format.reader) covers one more label only; names below those of *.\(host.pattern.base.name) are not "
                    + "pinned")
        }
        if !host.ports.isEmpty, !format.saysPorts {
            lose("\(field).ports", "\(format.reader) pins every port")
        }
        if host.ports.isEmpty, !format.saysAnyPort {
            lose("\(field).ports", "\(format.reader) is for one port; only port 443 is said")
        }
        let counting = host.pins.filter { $0.state != .candidate }
        for (index, pin) in host.pins.enumerated() where pin.state != .active {
            let what = pin.state == .candidate ? "a candidate is left out" : "is not said"
            note("\(field).pins[\(index)].state", what)
        }
        let (leaves, issuers) = chosen(counting, of: host, at: field)
        guard !leaves.isEmpty || !issuers.isEmpty else {
            return lose("\(field).pins", "none of them can be said; the host is left out")
        }
        if let report = host.report {
            if !format.saysReports {
                lose("\(field).report", "\(format.reader) does not report")
            } else if report.failureFraction != .one || report.successFraction != .zero {
                lose("\(field).report", "\(format.reader) reports every failure and no success")
            }
        }
        entries.append(
            Entry(
                pattern: host.pattern, ports: host.ports, leaves: leaves, issuers: issuers,
                lastDay: expiry(of: counting, host, at: field), isEnforced: host.enforcement == .enforce,
                reportURL: host.report?.url, includesSubdomains: host.pattern.scope == .subtree || isPair,
                annotations: annotations))
    }

    /// The names whose entry differs only in its pattern from that for one more label.
    private static func pairs(_ hosts: [PinFile.Host]) -> Set<DialedHost> {
        var exact: [DialedHost: PinFile.Host] = [:]
        for host in hosts where host.pattern.scope == .exact { exact[host.pattern.base] = host }
        var pairs: Set<DialedHost> = []
        for host in hosts where host.pattern.scope == .oneLabel {
            if let own = exact[host.pattern.base], own.differsOnlyInPattern(from: host) {
                pairs.insert(host.pattern.base)
            }
        }
        // Another entry for the name replaces it.
        return pairs.subtracting(hosts.filter { $0.pattern.scope == .subtree }.map(\.pattern.base))
    }

    private mutating func canName(_ host: PinFile.Host, at field: String) -> Bool {
        guard format.says(host.pattern.scope) else {
            lose("\(field).host", "\(format.reader) cannot say \(host.pattern); the host is left out")
            return false
        }
        guard format.says(host.pattern.base) else {
            lose("\(field).host", "\(format.reader) cannot name \(host.pattern); the host is left out")
            return false
        }
        if host.isRetired {
            lose("\(field).retired", "\(format.reader) cannot reject a host; it is left out")
            return false
        }
        if host.enforcement == .reportOnly, !format.saysReportOnly {
            lose("\(field).mode", "\(format.reader) cannot only report; the host is left out")
            return false
        }
        if !format.saysOneLabel, entries.contains(where: { $0.name == host.pattern.base.name }), !format.saysPorts {
            lose("\(field).host", "\(format.reader) has one entry for a name and its subdomains; this one is left out")
            return false
        }
        return true
    }

    /// The pins to write. There are fewer than in the file if all of them together would accept more or fewer servers.
    private mutating func chosen(
        _ pins: [PinFile.KeyPin], of host: PinFile.Host, at field: String
    ) -> (leaves: [Pin], issuers: [Pin]) {
        let leaves = Self.distinct(pins.filter { $0.role == .leaf }.map(\.pin))
        let issuers = Self.distinct(pins.filter { $0.role == .issuer }.map(\.pin))
        if format.saysRoles {
            guard host.requirement == .any, !leaves.isEmpty, !issuers.isEmpty else { return (leaves, issuers) }
            lose("\(field).require", "\(format.reader) asks for a leaf and an issuer; the issuer pins are left out")
            return (leaves, [])
        }
        if host.requirement == .oneOfEachRole {
            lose("\(field).require", "\(format.reader) is content with one pin; the issuer pins are left out")
            return (leaves, [])
        }
        // A pin with both roles matches anywhere in a path, which is how these systems treat every pin.
        let onlyIssuers = issuers.filter { !leaves.contains($0) }
        guard !onlyIssuers.isEmpty else { return (leaves, []) }
        guard format.matchesIssuers else {
            lose("\(field).pins", "\(format.reader) compares the server's own key; the issuer pins are left out")
            return (leaves, [])
        }
        lose("\(field).pins", "\(format.reader) has no roles; pins of issuers are written as any other")
        return (leaves, onlyIssuers)
    }

    private mutating func expiry(of pins: [PinFile.KeyPin], _ host: PinFile.Host, at field: String) -> Day? {
        let ends = Set(pins.map { min($0.end ?? .distantFuture, file.end ?? .distantFuture) })
        guard ends != [.distantFuture] else { return nil }
        let place = pins.contains { $0.notAfter != nil } ? "\(field).pins" : "notAfter"
        guard format.saysExpiry else {
            lose(place, "\(format.reader) has no expiry; the pins of \(host.pattern) last")
            return nil
        }
        guard ends.count == 1, let end = ends.first else {
            lose(place, "\(format.reader) has one expiry for all pins of a host; those of \(host.pattern) last")
            return nil
        }
        guard host.afterExpiry == .standardValidation || host.enforcement == .reportOnly else {
            lose(
                "\(field).onExpiry", "\(format.reader) pins nothing after the expiry; the pins of \(host.pattern) last")
            return nil
        }
        if end.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400) != 0 {
            lose(place, "\(format.reader) counts in days; the pins of \(host.pattern) end at the beginning of the day")
        }
        if format == .android { note(place, "the day begins at midnight on the device, not in UTC") }
        return Day(end: end)
    }

    /// Finds entries that overlap. OkHttp combines the pins of all patterns that match a host, and Apple does not
    /// document which entry applies; in a pin file only one entry applies.
    private mutating func findOverlaps() {
        guard format == .okhttp || format == .ats else { return }
        for (index, entry) in entries.enumerated() {
            let covers = entries.enumerated().first {
                $0.offset != index && $0.element.reach.matches(entry.pattern.base)
            }
            guard let other = covers?.element else { continue }
            lose(
                entry.pattern.description,
                format == .okhttp
                    ? "OkHttp accepts the pins of \(other.pattern) for it as well"
                    : "Apple does not say whether the entry of \(other.name) counts for it as well")
        }
    }

    /// Finds hosts that are left out although an entry of the file covers them: the other system would apply the pins
    /// of that entry to them.
    private mutating func findCoveredOmissions() {
        let wide = entries.filter { $0.reach.scope != .exact }
        guard !wide.isEmpty else { return }
        let written = Set(entries.map(\.pattern))
        for (index, host) in file.hosts.enumerated() where !written.contains(host.pattern) {
            let isMerged = format.mergesOneLabel && host.pattern.scope == .oneLabel
            guard !isMerged, let other = wide.first(where: { $0.reach.matches(host.pattern.base) }) else { continue }
            lose("hosts[\(index)].host", "\(format.reader) then pins \(host.pattern) with the pins of \(other.pattern)")
        }
    }

    private static func distinct(_ pins: [Pin]) -> [Pin] {
        var seen: Set<Pin> = []
        return pins.filter { seen.insert($0).inserted }
    }
}

extension PinFile.Host {
    fileprivate func differsOnlyInPattern(from other: PinFile.Host) -> Bool {
        ports == other.ports && isRetired == other.isRetired && enforcement == other.enforcement
            && requirement == other.requirement
            && afterExpiry == other.afterExpiry && pins == other.pins && report == other.report
    }
}

extension Pin {
    /// The Base64 of a key's pin, without a prefix.
    var base64: String { String(description.dropFirst("sha256/".count)) }
}
