public import Foundation
public import Holdfast

/// A change of a pin file. After each step, clients accept the file, and the fields that this version does not know are
/// unchanged.
///
/// ```swift
/// var edit = try PinFileEdit(data, named: "bank.pins.json")
/// try edit.add(backup, state: .backup, to: HostPattern("api.example.com"))
/// try edit.data().write(to: file)
/// ```
/// Whether clients can connect with the changed file depends on the chains that the hosts present, which an edit does
/// not know. Use ``PublicationOutlook`` before you publish it.
public struct PinFileEdit: Sendable {
    /// The certificate of a path that must have the key of a pin.
    public enum Role: String, Sendable, CaseIterable {
        /// The server's own.
        case leaf
        /// Any certificate above it.
        case issuer
    }

    /// The current state of a key.
    public enum State: String, Sendable, CaseIterable {
        /// In use.
        case active
        /// In no served chain.
        case backup
        /// About to be removed.
        case retiring
        /// In a trial: matches are reported, but the key is never accepted.
        case candidate
    }

    /// The file before the change.
    public let original: PinFile
    /// The file after the change.
    public private(set) var file: PinFile
    private let kept: PinFileKeptFields
    private let name: String

    /// Reads the file to change.
    /// - Parameters:
    ///   - data: the file.
    ///   - name: its name for messages.
    /// - Throws: ``PublishingError`` `invalidDocument` if it is not a pin file, or has a field that cannot be kept.
    public init(_ data: Data, named name: String) throws(PublishingError) {
        let document = try PinFileDocument(data, named: name)
        original = document.file
        file = document.file
        kept = try PinFileKeptFields(data, of: document, named: name)
        self.name = name
    }

    /// The changed file as JSON.
    /// - Throws: ``PublishingError`` if the fields that this version does not know cannot be kept.
    public func data() throws(PublishingError) -> Data { try kept.write(file) }

    /// The differences from the original, one sentence each, in the order of the file.
    public var changes: [String] { PinFileChanges.words(from: original, to: file) }

    /// The keys that changed entries lack and should have: a key in use, and a backup. One sentence each.
    public var shortages: [String] {
        PinFileChanges.shortages(from: original, to: file) + file.coveredReports.map(\.text)
    }

    // MARK: Steps

    /// Adds a pin to a host. A host that the file does not have yet gets an entry.
    /// - Parameters:
    ///   - pin: of a key.
    ///   - role: the certificate that must have the key.
    ///   - state: the current state of the key.
    ///   - end: the first instant at which the pin is no longer valid; nil for the whole validity of the file. A pin
    ///     file has whole seconds, so a fraction of a second is cut off.
    ///   - pattern: the host.
    ///   - ports: the ports of a new entry; empty for any. An existing entry keeps its own.
    /// - Throws: ``PublishingError`` if the host has the pin in that role already, is retired, or would have too many;
    ///   `notTheHosts` for a placeholder, which is not the pin of a key.
    public mutating func add(
        _ pin: Pin, as role: Role = .leaf, state: State = .active, until end: Date? = nil, to pattern: HostPattern,
        ports: [Int] = []
    ) throws(PublishingError) {
        let subject = "\(name), \(pattern)"
        do throws(HostCheckError) {
            try HostKeyCheck.check(pin)
        } catch {
            throw PublishingError(error)
        }
        let key = try made(subject) { () throws(PinFileError) in
            try PinFile.KeyPin(pin, role: role.value, state: state.value, notAfter: end?.lastWholeSecond)
        }
        guard let index = file.hosts.firstIndex(where: { $0.pattern == pattern }) else {
            let host = try made(subject) { () throws(PinFileError) in
                try PinFile.Host(pattern, ports: ports, pins: [key])
            }
            return try replace(hosts: file.hosts + [host], subject)
        }
        let host = file.hosts[index]
        guard !host.isRetired else {
            throw PublishingError(
                .invalidDocument, of: subject, expected: "a host that is not retired", found: "a retired one",
                remedy: "Remove its entry first, if clients should connect to it again.")
        }
        guard ports.isEmpty || ports.sorted() == host.ports else {
            throw PublishingError(
                .invalidInput, of: subject, expected: "the ports of its entry, or none",
                found: ports.map(String.init).joined(separator: ", "),
                remedy: "Set the ports of the entry by themselves.")
        }
        if let same = host.pins.first(where: { $0.pin == pin && $0.role == key.role }) {
            throw PublishingError(
                .invalidDocument, of: subject, expected: "a pin that it does not have",
                found: "\(pin), which is there as \(same.role.rawValue), \(same.state.rawValue)",
                remedy: "Promote a backup, or remove the pin first.")
        }
        try replace(index, pins: host.pins + [key])
    }

    /// Removes a pin of a host.
    /// - Parameters:
    ///   - pin: the pin.
    ///   - role: the role in which it is removed; nil for every role.
    ///   - pattern: the host.
    /// - Throws: ``PublishingError`` if the host does not have it, or if every client would be locked out without it.
    public mutating func remove(
        _ pin: Pin, as role: Role? = nil, from pattern: HostPattern
    ) throws(PublishingError) {
        let (index, host) = try entry(pattern)
        let left = host.pins.filter { $0.pin != pin || role != nil && $0.role != role?.value }
        guard left.count < host.pins.count else { throw missing(pin, host) }
        guard !left.isEmpty else {
            throw PublishingError(
                .invalidDocument, of: "\(name), \(pattern)", expected: "a pin that is left", found: "none",
                remedy: "Add the pin of another key first, or retire the host, or remove its whole entry.")
        }
        try replace(index, pins: left)
    }

    /// Removes the whole entry of a host. Clients refuse the host, or use another entry that covers it.
    /// - Throws: ``PublishingError`` if the entry does not exist.
    public mutating func remove(_ pattern: HostPattern) throws(PublishingError) {
        let (index, _) = try entry(pattern, retiredToo: true)
        var hosts = file.hosts
        hosts.remove(at: index)
        try replace(hosts: hosts, "\(name), \(pattern)")
    }

    /// Retires a host: clients refuse to connect to it. Its ports are unchanged.
    /// - Throws: ``PublishingError`` if the entry does not exist, or if it is retired already.
    public mutating func retire(_ pattern: HostPattern) throws(PublishingError) {
        let (index, host) = try entry(pattern)
        var hosts = file.hosts
        hosts[index] = try made("\(name), \(pattern)") { () throws(PinFileError) in
            try PinFile.Host.retired(pattern, ports: host.ports)
        }
        try replace(hosts: hosts, "\(name), \(pattern)")
    }

    /// Marks a pin as retiring. Clients accept it until it is removed.
    /// - Parameters:
    ///   - pin: the pin; in every role that it has.
    ///   - pattern: the host.
    /// - Throws: ``PublishingError`` if the host does not have it, or if it is retiring already.
    public mutating func retire(_ pin: Pin, of pattern: HostPattern) throws(PublishingError) {
        let (index, host) = try entry(pattern)
        let mine = host.pins.filter { $0.pin == pin }
        guard !mine.isEmpty else { throw missing(pin, host) }
        guard mine.contains(where: { $0.state == .active || $0.state == .backup }) else {
            throw PublishingError(
                .invalidDocument, of: "\(name), \(pattern)", expected: "a pin that is active or a backup",
                found: "\(pin) with state \(mine[0].state.rawValue)",
                remedy: "Remove it when no server shows it anymore.")
        }
        try replace(index, pins: restated(host) { $0.pin == pin && $0.state != .candidate ? .retiring : nil })
    }

    /// Makes a backup the key in use, and retires the earlier key in use. No pin is lost.
    /// - Parameters:
    ///   - pin: the backup.
    ///   - pattern: the host.
    /// - Throws: ``PublishingError`` if the host does not have it as a backup.
    public mutating func promote(_ pin: Pin, of pattern: HostPattern) throws(PublishingError) {
        let (index, host) = try entry(pattern)
        let mine = host.pins.filter { $0.pin == pin }
        guard let first = mine.first else { throw missing(pin, host) }
        let roles = Set(mine.filter { $0.state == .backup }.map(\.role))
        guard !roles.isEmpty else {
            throw PublishingError(
                .invalidDocument, of: "\(name), \(pattern)", expected: "a backup to promote",
                found: "\(pin) with state \(first.state.rawValue)",
                remedy: "Only backups are promoted: clients must have had the pin for longer than their documents last."
            )
        }
        let pins = try restated(host) { key in
            if key.pin == pin { return key.state == .backup ? .active : nil }
            return key.state == .active && roles.contains(key.role) ? .retiring : nil
        }
        try replace(index, pins: pins)
    }

    // MARK: Settings

    /// Settings of the whole file; nil keeps a setting.
    public struct FileSettings: Sendable, Hashable {
        /// The subject of the file, such as the bundle identifier of an app.
        public var app: String?
        /// When it was issued.
        public var issuedAt: Date?
        /// The first instant at which it is no longer current; in the file, whole seconds.
        public var end: Date?
        /// How long clients use it before they fetch a newer one, in whole seconds.
        public var refreshAfter: Duration?
        /// How long its pins are enforced after the end, in whole seconds.
        public var grace: Duration?

        /// Makes settings that change nothing.
        public init() {}
    }

    /// Settings of a host; nil keeps a setting.
    public struct HostSettings: Sendable, Hashable {
        /// The behavior if no pin matches.
        public var mode: Mode?
        /// The pins that a connection must match.
        public var require: Require?
        /// The behavior after the pins have expired.
        public var onExpiry: OnExpiry?
        /// The destination to which other readers of the file report failures: an https URL, or an empty text for none.
        public var reportURL: String?
        /// The ports; empty for any.
        public var ports: [Int]?

        /// Makes settings that change nothing.
        public init() {}
    }

    /// Changes settings of the whole file.
    /// - Throws: ``PublishingError`` that names the field, for example for an end before the issue.
    public mutating func set(_ settings: FileSettings) throws(PublishingError) {
        var refresh = file.refresh
        if settings.refreshAfter != nil || settings.grace != nil {
            guard let after = settings.refreshAfter.map(Self.seconds) ?? refresh?.after else {
                throw PublishingError(
                    .invalidInput, of: "\(name), refresh", expected: "when clients look for a newer file",
                    found: "a grace without it", remedy: "Set both.")
            }
            refresh = try made(name) { [refresh] () throws(PinFileError) in
                try PinFile.Refresh(
                    after: after, jitter: refresh?.jitter ?? .zero,
                    grace: settings.grace.map(Self.seconds) ?? refresh?.grace ?? 0)
            }
        }
        let old = file
        file = try made(name) { [refresh] () throws(PinFileError) in
            try PinFile(
                app: settings.app ?? old.app, issuedAt: settings.issuedAt ?? old.issuedAt,
                notAfter: settings.end?.lastWholeSecond ?? old.notAfter, refresh: refresh, hosts: old.hosts,
                debugAnchors: old.debugAnchors)
        }
    }

    /// Changes settings of a host.
    /// - Throws: ``PublishingError`` that names the field, for example if a requirement cannot be met.
    public mutating func set(_ settings: HostSettings, of pattern: HostPattern) throws(PublishingError) {
        let (index, host) = try entry(pattern)
        var hosts = file.hosts
        hosts[index] = try made("\(name), \(pattern)") { () throws(PinFileError) in
            var report = host.report
            if let url = settings.reportURL {
                report =
                    try url.isEmpty
                    ? nil
                    : PinFile.Report(
                        url: url, failureFraction: report?.failureFraction ?? .one,
                        successFraction: report?.successFraction ?? .zero)
            }
            return try PinFile.Host(
                pattern, ports: settings.ports ?? host.ports, enforcement: settings.mode?.value ?? host.enforcement,
                requirement: settings.require?.value ?? host.requirement,
                afterExpiry: settings.onExpiry?.value ?? host.afterExpiry, pins: host.pins, report: report)
        }
        let before = self
        try replace(hosts: hosts, "\(name), \(pattern)")
        guard settings.reportURL?.isEmpty == false,
            let covered = file.coveredReports.first(where: { $0.pattern == pattern })
        else { return }
        self = before
        throw PublishingError(
            .invalidInput, of: "\(name), \(pattern)", expected: "a host for reports that no pin of the file covers",
            found: "\(covered.destination), which the pins of \(covered.cover) cover",
            remedy: "Report to a host that is not pinned: if the pins are wrong, reports to a pinned host fail as well."
        )
    }

    // MARK: Making

    private func entry(
        _ pattern: HostPattern, retiredToo: Bool = false
    ) throws(PublishingError) -> (Int, PinFile.Host) {
        guard let index = file.hosts.firstIndex(where: { $0.pattern == pattern }) else {
            let names = file.hosts.prefix(8).map(\.pattern.description).joined(separator: ", ")
            throw PublishingError(
                .invalidDocument, of: "\(name), \(pattern)", expected: "a host of the file",
                found: names.isEmpty ? "a file without hosts" : "\(names)\(file.hosts.count > 8 ? " and others" : "")",
                remedy: "Name the host as the file does.")
        }
        let host = file.hosts[index]
        guard retiredToo || !host.isRetired else {
            throw PublishingError(
                .invalidDocument, of: "\(name), \(pattern)", expected: "a host that is not retired",
                found: "a retired one, which has no pins",
                remedy: "Remove its entry first, if clients should connect to it again.")
        }
        return (index, host)
    }

    private func missing(_ pin: Pin, _ host: PinFile.Host) -> PublishingError {
        PublishingError(
            .invalidDocument, of: "\(name), \(host.pattern)", expected: "a pin that it has", found: "\(pin)",
            remedy: "It has \(host.pins.map(\.pin.description).joined(separator: ", ")).")
    }

    /// The pins of a host with other states.
    /// - Parameter state: the new state of a pin; nil to keep it.
    private func restated(
        _ host: PinFile.Host, _ state: (PinFile.KeyPin) -> PinFile.KeyPin.State?
    ) throws(PublishingError) -> [PinFile.KeyPin] {
        var pins: [PinFile.KeyPin] = []
        for key in host.pins {
            guard let new = state(key) else {
                pins.append(key)
                continue
            }
            pins.append(
                try made("\(name), \(host.pattern)") { () throws(PinFileError) in
                    try PinFile.KeyPin(key.pin, role: key.role, state: new, notAfter: key.notAfter)
                })
        }
        return pins
    }

    private mutating func replace(_ index: Int, pins: [PinFile.KeyPin]) throws(PublishingError) {
        var hosts = file.hosts
        let host = hosts[index]
        let subject = "\(name), \(host.pattern)"
        hosts[index] = try made(subject) { () throws(PinFileError) in
            try PinFile.Host(
                host.pattern, ports: host.ports, enforcement: host.enforcement, requirement: host.requirement,
                afterExpiry: host.afterExpiry, pins: pins, report: host.report)
        }
        try replace(hosts: hosts, subject)
    }

    private mutating func replace(hosts: [PinFile.Host], _ subject: String) throws(PublishingError) {
        let old = file
        file = try made(subject) { () throws(PinFileError) in
            try PinFile(
                app: old.app, issuedAt: old.issuedAt, notAfter: old.notAfter, refresh: old.refresh, hosts: hosts,
                debugAnchors: old.debugAnchors)
        }
    }

    private static func seconds(_ span: Duration) -> Int { Int(clamping: span.components.seconds) }

    /// Makes a value of the format, and adds the subject to its error.
    private func made<Value>(
        _ subject: String, _ make: () throws(PinFileError) -> Value
    ) throws(PublishingError) -> Value {
        do throws(PinFileError) {
            return try make()
        } catch {
            throw PublishingError(
                .invalidDocument, of: error.field.map { "\(subject), \($0)" } ?? subject, expected: error.expected,
                found: error.found, remedy: error.remedy)
        }
    }
}

extension Date {
    /// The last valid second, if this is the first instant that is no longer valid.
    fileprivate var lastWholeSecond: Date {
        let second = wholeSeconds
        return Date(wholeSeconds: self > Date(wholeSeconds: second) ? second : second - 1)
    }
}

extension PinFileEdit.Role {
    fileprivate var value: PinFile.KeyPin.Role {
        switch self {
        case .leaf: .leaf
        case .issuer: .issuer
        }
    }
}

extension PinFileEdit.State {
    fileprivate var value: PinFile.KeyPin.State {
        switch self {
        case .active: .active
        case .backup: .backup
        case .retiring: .retiring
        case .candidate: .candidate
        }
    }
}
