import Foundation
import Holdfast

/// A pin file made from another system's configuration, with a list of what a pin file cannot express.
struct PinImport {
    /// The systems whose configuration is read.
    enum Source: String, CaseIterable {
        case trustkit, ats, android
    }

    /// The certificates of a path that imported pins are for, if their system does not say.
    enum Role: String, CaseIterable {
        case leaf, issuer, both

        fileprivate var roles: [PinFile.KeyPin.Role] {
            switch self {
            case .leaf: [.leaf]
            case .issuer: [.issuer]
            case .both: [.leaf, .issuer]
            }
        }
    }

    /// What another system says about a domain.
    struct Domain {
        let field: String
        let name: String
        let includesSubdomains: Bool
        /// Hashes that may match anywhere in a path.
        var hashes: [String] = []
        var leaves: [String] = []
        var issuers: [String] = []
        /// The day, `yyyy-MM-dd`, from whose beginning nothing is pinned.
        var expiration: String?
        var isEnforced = true
        var reportURL: String?
        /// Whether the domain is excepted from the pins of the one above it.
        var isException = false
    }

    let role: Role
    private(set) var hosts: [PinFile.Host] = []
    /// What the file cannot express.
    var losses: [PinExport.Loss] = []
    /// What the file expresses in another way.
    var notes: [PinExport.Loss] = []

    /// Reads a configuration.
    /// - Parameter role: the certificates that pins are for if their system has no roles.
    init(_ data: Data, from source: Source, role: Role) throws(CommandFailure) {
        self.role = role
        let domains: [Domain]
        switch source {
        case .trustkit: domains = try TrustKitReading.domains(in: data, &losses)
        case .ats: domains = try TransportSecurityReading.domains(in: data)
        case .android: domains = try AndroidReading.domains(in: data, &losses, &notes)
        }
        guard !domains.isEmpty else { throw Self.failure("has no pinned domain for \(source.rawValue)") }
        for domain in domains where !domain.isException { hosts.append(try host(domain)) }
        for domain in domains where domain.isException { try except(domain) }
        guard source != .ats else { return }
        notes.append(
            PinExport.Loss(
                field: "role", what: "\(source.rawValue) does not say whose key a pin is: \(role.rawValue) (see --role)"
            ))
    }

    func file() throws(CommandFailure) -> PinFile {
        do throws(PinFileError) {
            return try PinFile(hosts: hosts)
        } catch {
            throw Self.failure("makes no pin file: \(error)")
        }
    }

    private func host(_ domain: Domain) throws(CommandFailure) -> PinFile.Host {
        do {
            let pattern = try HostPattern(host: domain.name, includeSubdomains: domain.includesSubdomains)
            let end = try domain.expiration.map { try Self.lastSecond(before: $0) }
            var pins: [PinFile.KeyPin] = []
            func add(_ hashes: [String], _ roles: [PinFile.KeyPin.Role]) throws {
                for role in roles {
                    for hash in hashes {
                        let pin = try PinFile.KeyPin(Pin("sha256/\(hash)"), role: role, notAfter: end)
                        // The same hash twice is one pin.
                        if !pins.contains(pin) { pins.append(pin) }
                    }
                }
            }
            try add(domain.hashes, role.roles)
            try add(domain.leaves, [.leaf])
            try add(domain.issuers, [.issuer])
            let both = !domain.leaves.isEmpty && !domain.issuers.isEmpty
            return try PinFile.Host(
                pattern, mode: domain.isEnforced ? .enforce : .report, requirement: both ? .leafAndIssuer : .any,
                onExpiry: end == nil ? .failClosed : .systemTrust, pins: pins,
                report: try domain.reportURL.map { try PinFile.Report(url: $0) })
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw Self.failure("\(domain.field): \(ForeignErrorText.whole(error))")
        }
    }

    /// Adds an exception. A pin file cannot exclude a name from a pattern, but it can leave the decision to standard
    /// validation.
    private mutating func except(_ domain: Domain) throws(CommandFailure) {
        let parent: PinFile.Host
        let pattern: HostPattern
        do {
            pattern = try HostPattern(host: domain.name, includeSubdomains: domain.includesSubdomains)
            let above = hosts.filter { $0.pattern.scope == .subtree && $0.pattern.matches(pattern.base) }
            guard let nearest = above.min(by: { $0.pattern < $1.pattern }) else {
                losses.append(
                    PinExport.Loss(field: domain.field, what: "has no pins, and a pin file lists only hosts that do"))
                return
            }
            parent = try PinFile.Host(
                pattern, mode: .report, requirement: nearest.requirement, onExpiry: nearest.onExpiry,
                pins: nearest.pins)
        } catch {
            throw Self.failure("\(domain.field): \(ForeignErrorText.whole(error))")
        }
        hosts.append(parent)
        notes.append(
            PinExport.Loss(field: domain.field, what: "is not pinned: mode report, so that standard validation decides")
        )
    }

    /// The last second before a day, in UTC.
    private static func lastSecond(before day: String) throws -> Date {
        let parts = day.split(separator: "-", omittingEmptySubsequences: false)
        guard day.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2],
            let date = try? Date("\(day)T00:00:00Z", strategy: .iso8601),
            date.formatted(.iso8601.year().month().day()) == day
        else {
            throw CommandFailure(
                .invalidList, "the expiry \(String(day.prefix(40)).quotedAddress) is no day like 2030-01-31")
        }
        return date.addingTimeInterval(-1)
    }

    static func failure(_ what: String) -> CommandFailure { CommandFailure(.invalidList, "the configuration \(what)") }
}

/// Reads the pins in property lists.
private enum PropertyListReading {
    static func dictionary(in data: Data) throws(CommandFailure) -> [String: Any] {
        // Foundation copies objects that a binary list shares, so forty objects can grow to 2^40. XML lists share
        // nothing.
        guard !data.starts(with: Array("bplist".utf8)) else {
            throw PinImport.failure("is a binary property list; make XML of it with plutil -convert xml1 FILE")
        }
        guard let list = unsafe try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let dictionary = list as? [String: Any]
        else { throw PinImport.failure("is not a property list with a dictionary") }
        return dictionary
    }

    static func domains(_ value: Any?, of key: String) throws(CommandFailure) -> [(
        name: String, content: [String: Any]
    )] {
        guard let domains = value as? [String: Any] else { throw PinImport.failure("has no \(key)") }
        var read: [(name: String, content: [String: Any])] = []
        for (name, value) in domains {
            guard let content = value as? [String: Any] else {
                throw PinImport.failure("\(key) \(name.quotedAddress) is not a dictionary")
            }
            read.append((name, content))
        }
        // A dictionary has no order, but the pin file should be the same each time.
        return read.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    static func truth(_ value: Any?, default standard: Bool) -> Bool { value as? Bool ?? standard }
}

/// `TSKConfiguration`, alone or in an Info.plist.
private enum TrustKitReading {
    static func domains(in data: Data, _ losses: inout [PinExport.Loss]) throws(CommandFailure) -> [PinImport.Domain] {
        let list = try PropertyListReading.dictionary(in: data)
        let configuration = list["TSKConfiguration"] as? [String: Any] ?? list
        if PropertyListReading.truth(configuration["TSKSwizzleNetworkDelegates"], default: false) {
            losses.append(
                PinExport.Loss(field: "TSKSwizzleNetworkDelegates", what: "a pin file does not hook into other code"))
        }
        var domains: [PinImport.Domain] = []
        let pinned = try PropertyListReading.domains(configuration["TSKPinnedDomains"], of: "TSKPinnedDomains")
        for (name, content) in pinned {
            let field = "TSKPinnedDomains.\(name)"
            var domain = PinImport.Domain(
                field: field, name: name,
                includesSubdomains: PropertyListReading.truth(content["TSKIncludeSubdomains"], default: false))
            domain.hashes = content["TSKPublicKeyHashes"] as? [String] ?? []
            domain.expiration = content["TSKExpirationDate"] as? String
            if let date = content["TSKExpirationDate"] as? Date {
                domain.expiration = date.formatted(.iso8601.year().month().day())
            }
            domain.isEnforced = PropertyListReading.truth(content["TSKEnforcePinning"], default: true)
            // The first is the constant's value. People also write the second, which TrustKit does not know.
            domain.isException = ["kSKExcludeSubdomainFromParentPolicy", "TSKExcludeSubdomainFromParentPolicy"]
                .contains { PropertyListReading.truth(content[$0], default: false) }
            let urls = content["TSKReportUris"] as? [String] ?? []
            domain.reportURL = urls.first
            for url in urls.dropFirst() {
                losses.append(
                    PinExport.Loss(
                        field: "\(field).TSKReportUris",
                        what: "a host reports to one address, not to \(url.quotedAddress)"))
            }
            if !domain.isException, !PropertyListReading.truth(content["TSKDisableDefaultReportUri"], default: false) {
                losses.append(
                    PinExport.Loss(
                        field: "\(field).TSKDisableDefaultReportUri", what: "reports to TrustKit's makers are not made")
                )
            }
            domains.append(domain)
        }
        return domains
    }
}

/// `NSPinnedDomains`, alone, in `NSAppTransportSecurity` or in an Info.plist.
private enum TransportSecurityReading {
    static func domains(in data: Data) throws(CommandFailure) -> [PinImport.Domain] {
        let list = try PropertyListReading.dictionary(in: data)
        let security = list["NSAppTransportSecurity"] as? [String: Any] ?? list
        var domains: [PinImport.Domain] = []
        for (name, content) in try PropertyListReading.domains(security["NSPinnedDomains"], of: "NSPinnedDomains") {
            var domain = PinImport.Domain(
                field: "NSPinnedDomains.\(name)", name: name,
                includesSubdomains: PropertyListReading.truth(content["NSIncludesSubdomains"], default: false))
            domain.leaves = hashes(content["NSPinnedLeafIdentities"])
            domain.issuers = hashes(content["NSPinnedCAIdentities"])
            domains.append(domain)
        }
        return domains
    }

    private static func hashes(_ value: Any?) -> [String] {
        // Anything other than a hash becomes an empty one, which leads to an error that names the domain.
        (value as? [[String: Any]] ?? []).map { $0["SPKI-SHA256-BASE64"] as? String ?? "" }
    }
}
