import struct Foundation.Date

/// What a verified document of a trust server says, by host.
struct TrustServerTable: Sendable {
    /// What the document has for a host that was dialled.
    enum Answer: Sendable {
        case pins(PinSet)
        /// The host is not in the document.
        case unlisted
        /// The host's entries have no pins of this kind.
        case otherKind
        /// The host's entries are for other ports than the one that was dialled.
        case otherPorts([Int])
        /// The port is not known, and the host's entries are not the same for all of theirs.
        case differentPorts([Int])
    }

    /// What is pinned for a host at one port.
    private struct Service: Sendable {
        private(set) var certificates: [Pin] = []
        private(set) var publicKeys: [Pin] = []
        private var known: Set<Pin> = []

        func pins(_ subject: Pin.Subject) -> [Pin] { subject == .certificate ? certificates : publicKeys }

        mutating func add(_ entry: TrustServerEntry) {
            for pin in entry.certificatePins where known.insert(pin).inserted { certificates.append(pin) }
            for pin in entry.publicKeyPins where known.insert(pin).inserted { publicKeys.append(pin) }
        }
    }

    /// Of one host by port; nil stands for a port that the document does not name.
    private typealias Services = [Int?: Service]

    /// When the document was made, as far as that counts: a signer whose clock is years ahead makes no document that
    /// is fresh for years.
    let timestamp: Date
    /// When the document was made, in its signer's words.
    let signedTimestamp: Date
    /// The notAfter of the signer's certificate, where it has passed.
    let signerExpired: Date?
    private let services: [DialledHost.Kind: Services]

    /// - Parameters:
    ///   - document: the verified document.
    ///   - latest: it counts from no later time.
    /// - Throws: ``DocumentError`` `invalidValue` for a hostname that is none: nobody could dial it.
    init(_ document: TrustServerDocument, issuedUpTo latest: Date) throws(DocumentError) {
        timestamp = min(document.timestamp, latest)
        signedTimestamp = document.timestamp
        signerExpired = document.signerExpired
        var services: [DialledHost.Kind: Services] = [:]
        for (position, entry) in document.entries.enumerated() {
            let kind: DialledHost.Kind
            do throws(HostError) {
                kind = try DialledHost(entry.hostname).kind
            } catch {
                throw DocumentError(
                    .invalidValue, entry: position, field: "hostname", expected: error.expected, found: error.found,
                    remedy: "Publish the document with hosts that can be dialled.")
            }
            services[kind, default: [:]][entry.port, default: Service()].add(entry)
        }
        self.services = services
    }

    /// How many hosts have entries.
    var hostCount: Int { services.count }

    /// The pins of a host, found by its exact name and, where it is known, its port.
    func answer(for host: DialledHost, _ subject: Pin.Subject) -> Answer {
        guard let all = services[host.kind] else { return .unlisted }
        let ports = all.keys.compactMap(\.self).sorted()
        guard let port = host.port else {
            let sets = Set(all.values.map { Set($0.pins(subject)) })
            return sets.count == 1 ? answer(all.values.first, subject) : .differentPorts(ports)
        }
        guard let service = all[port] ?? all[Int?.none] else { return .otherPorts(ports) }
        return answer(service, subject)
    }

    private func answer(_ service: Service?, _ subject: Pin.Subject) -> Answer {
        guard let pins = service?.pins(subject), let set = try? PinSet(pins: pins) else { return .otherKind }
        return .pins(set)
    }
}
