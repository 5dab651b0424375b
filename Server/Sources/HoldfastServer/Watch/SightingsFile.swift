/// What somebody saw of hosts from one place, in one look, as JSON (`holdfast-sightings-v1`). It says who showed what, and
/// nothing about what that means.
public struct SightingsFile: Sendable {
    /// What one address showed.
    public struct Shown: Sendable, Hashable {
        /// The address, with its port.
        public let address: String
        /// The chain.
        public let chain: HostChain
    }

    /// When, in seconds since 1970.
    public let time: Int64
    /// What was shown for each host, by `NAME:PORT`.
    public let hosts: [(label: String, shown: [Shown])]

    private static let name = "holdfast-sightings-v1"
    private static let limit = 4 << 20

    /// Collects what was found.
    /// - Parameters:
    ///   - findings: for each host; addresses that showed nothing are left out.
    ///   - time: when, in seconds since 1970.
    public init(_ findings: [(label: String, findings: [WatchFinding])], at time: Int64) {
        self.time = time
        hosts = findings.map { label, findings in
            let shown = findings.compactMap { finding in
                (try? HostChain(finding.chain)).map { Shown(address: finding.place, chain: $0) }
            }
            return (label, shown)
        }
    }

    /// Canonical JSON, with a line feed at the end.
    public var octets: [UInt8] {
        let hosts = hosts.map { label, shown in
            let shown = shown.map { shown in
                CanonicalJSON.object([
                    "address": .text(shown.address),
                    "certificates": .array(shown.chain.certificates.map { .text(Base64.encode($0)) }),
                ])
            }
            return CanonicalJSON.object(["host": .text(label), "shown": .array(shown)])
        }
        return CanonicalJSON.object([
            "format": .text(Self.name), "time": .text(ClockGuard.text(time)), "hosts": .array(hosts),
        ]).octets + [0x0A]
    }

    /// Reads what somebody handed in, with white space and members in any order.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    public init(_ octets: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(try JSONReader.read(octets, "sightings", limit: Self.limit), "sightings")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        time = try fields.text("time", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        hosts = try fields.array("hosts", atMost: 256) { value, place throws(ServerError) in
            var fields = try JSONFields(value, place)
            let label = try fields.text("host", "NAME:PORT") { Self.text($0) }
            let shown = try fields.array("shown", atMost: 64) { value, place throws(ServerError) in
                try Self.shown(value, place)
            }
            try fields.finish()
            return (label: label, shown: shown)
        }
        try fields.finish()
    }

    private static func shown(_ value: CanonicalJSON, _ place: String) throws(ServerError) -> Shown {
        var fields = try JSONFields(value, place)
        let address = try fields.text("address", "an address") { text($0) }
        let certificates = try fields.array("certificates", atMost: 16) { value, place throws(ServerError) in
            guard case .text(let text) = value, let der = Base64.decode(text) else {
                throw ServerError(
                    .invalidValue, of: place, expected: "the Base64 of a certificate in DER", found: "another value")
            }
            return der
        }
        try fields.finish()
        return Shown(address: address, chain: try HostChain(certificates))
    }

    private static func text(_ octets: [UInt8]) -> String? {
        ASCIIText.isPrintable(octets, 1...255) ? String(decoding: octets, as: UTF8.self) : nil
    }
}

extension Catalog {
    /// Takes what another watcher saw.
    /// - Parameters:
    ///   - file: what it saw, within the last hour.
    ///   - vantage: from where; another place than this server's.
    ///   - app: the app, which has all those hosts.
    ///   - actor: who hands it in, for the audit.
    /// - Returns: the alarms that are new, in words: another vantage sees other keys.
    /// - Throws: ``ServerError`` `invalidValue`, `notFound`; nothing is taken then.
    @discardableResult
    public func take(
        _ file: SightingsFile, from vantage: String, of app: AppName, by actor: String
    ) async throws(ServerError) -> [String] {
        guard !vantage.utf8.elementsEqual(Vantage.usual.utf8) else {
            throw ServerError(
                .invalidValue, of: "vantage", expected: "another place than this server's", found: vantage,
                remedy: "Name the place from which those hosts were seen.")
        }
        let now = try await now()
        guard (now - Vantage.lifetime...now + ClockGuard.tolerance).contains(file.time) else {
            throw ServerError(
                .invalidValue, of: "sightings.time", expected: "a time within the last hour",
                found: ClockGuard.text(file.time), remedy: "Look again, and hand it in at once.")
        }
        let known = try await hosts(of: app)
        var looks: [(host: CatalogHost, seen: [Observation])] = []
        for (label, shown) in file.hosts {
            guard let host = known.first(where: { $0.label.utf8.elementsEqual(label.utf8) }) else {
                throw ServerError(.notFound, of: "sightings", expected: "hosts of \(app), as NAME:PORT", found: label)
            }
            let time = min(now, file.time)
            let seen = shown.map { shown in
                Observation(
                    vantage: vantage, address: shown.address, chain: shown.chain, firstSeen: time, lastSeen: time)
            }
            looks.append((host, seen))
        }
        let accepted = try await acceptedChains(looks.map { ($0.host, $0.seen.compactMap(\.chain)) }, of: app)
        try await note(looks, accepting: accepted, from: vantage, of: app, by: actor)
        let hosts = looks.map(\.host)
        return zip(hosts, try await compareVantages(of: hosts, app)).compactMap { host, comparison in
            comparison.alarm.map { "\(host.label): \($0)" }
        }
    }
}
