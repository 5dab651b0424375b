package import Foundation

/// The content of a verified trust-server document, by host.
package struct TrustServerTable: Sendable {
    /// The result of looking up a host that was dialed.
    enum Answer: Sendable {
        case pins(PinSet)
        /// The host is not in the document.
        case unlisted
        /// The host's entries have no pins of this kind.
        case otherKind
        /// The host's entries are for other ports than the one that was dialed.
        case otherPorts([Int])
        /// The port is unknown, and the host's entries differ by port.
        case differentPorts([Int])
    }

    /// The pins of a host at one port.
    private struct Service: Sendable {
        private let all: PinSet?
        private let certificates: PinSet?
        private let publicKeys: PinSet?

        /// The pins of a kind; nil if no pin is of this kind.
        func pins(_ subject: Pin.Subject?) -> PinSet? {
            switch subject {
            case .certificate?: certificates
            case .publicKey?: publicKeys
            case nil: all
            }
        }

        init(_ pins: [Pin], until end: Date) {
            func set(_ isMeant: (Pin) -> Bool) -> PinSet? {
                let rules = pins.filter(isMeant).map { PinRule($0, until: end) }
                return rules.isEmpty ? nil : PinSet(known: rules)
            }
            all = set { _ in true }
            certificates = set { $0.subject == .certificate }
            publicKeys = set { $0.subject == .publicKey }
        }
    }

    /// The pins of one host by port; nil stands for a port that the document does not name.
    private typealias Services = [Int?: Service]

    /// The time at which the document was made, limited so that a signer whose clock is years ahead cannot make it
    /// fresh for years.
    package let timestamp: Date
    /// The time at which the document was made, according to its signer.
    package let signedTimestamp: Date
    /// The first instant at which the signer's certificate is no longer valid, if that instant has passed.
    let signerExpired: Date?
    /// The first instant at which the document is no longer accepted, including its grace period.
    package let end: Date
    private let services: [DialedHost.Kind: Services]

    /// - Parameters:
    ///   - document: the verified document.
    ///   - latest: the maximum of the time from which it is valid.
    ///   - lifetime: the seconds after its timestamp for which it is accepted, including its grace period and the last
    ///     second.
    /// - Throws: ``DocumentError`` `invalidValue` for an invalid hostname.
    init(_ document: TrustServerDocument, issuedUpTo latest: Date, lifetime: TimeInterval) throws(DocumentError) {
        timestamp = min(document.timestamp, latest)
        signedTimestamp = document.timestamp
        signerExpired = document.signerExpired
        end = timestamp.addingTimeInterval(lifetime + 1)
        var pins: [DialedHost.Kind: [Int?: [Pin]]] = [:]
        for (position, entry) in document.entries.enumerated() {
            let kind: DialedHost.Kind
            do throws(HostError) {
                kind = try DialedHost(entry.hostname).kind
            } catch {
                throw DocumentError(
                    .invalidValue, entry: position, field: "hostname", expected: error.expected, found: error.found,
                    remedy: "Publish the document with hosts that can be dialed.")
            }
            pins[kind, default: [:]][entry.port, default: []] += entry.certificatePins + entry.publicKeyPins
        }
        let end = end
        services = pins.mapValues { ports in ports.mapValues { Service($0.distinct, until: end) } }
    }

    /// The number of hosts with entries.
    var hostCount: Int { services.count }

    /// The pins of a host, found by its exact name and, if it is known, its port.
    func answer(for host: DialedHost, _ subject: Pin.Subject?) -> Answer {
        guard let all = services[host.kind] else { return .unlisted }
        let ports = all.keys.compactMap(\.self).sorted()
        guard let port = host.port else {
            let sets = Set(all.values.map { Set($0.pins(subject)?.pins ?? []) })
            return sets.count == 1 ? answer(all.values.first, subject) : .differentPorts(ports)
        }
        guard let service = all[port] ?? all[Int?.none] else { return .otherPorts(ports) }
        return answer(service, subject)
    }

    private func answer(_ service: Service?, _ subject: Pin.Subject?) -> Answer {
        service?.pins(subject).map(Answer.pins) ?? .otherKind
    }
}
