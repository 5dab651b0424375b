public import Foundation
public import Holdfast
public import HoldfastSigning

/// The currently published document, as its own publisher reads it. It replaces a lost memory.
public struct PublishedDocument: Sendable {
    /// When the document was made.
    public let timestamp: Date
    /// The JSON that was signed, exactly as it is in the document.
    public let signedContent: Data

    private static let maximumBytes = 64 << 20

    /// Reads a document that this key signed, including one that the published script made.
    /// - Throws: `DocumentError` if it is not a document, or was made with another key or for another customer.
    public init(reading data: Data, by key: TrustServerKey, customer: String) throws(DocumentError) {
        let signer = try TrustServerSigner(certificate: key.certificate)
        let (document, content) = try TrustServerDocument.withContent(
            verifying: data, by: signer, customer: customer, at: .distantFuture,
            limits: DocumentLimits(bytes: Self.maximumBytes, entries: .max))
        timestamp = document.timestamp
        signedContent = content
    }

    /// Reads a document as clients do.
    /// - Parameters:
    ///   - data: the document.
    ///   - certificate: the signer's certificate that clients are configured with, in DER or PEM.
    ///   - customer: the customer that clients are configured with.
    ///   - now: the time.
    /// - Throws: `DocumentError` if clients would refuse it at any time, for example because it has another signer.
    public init(
        reading data: Data, signedBy certificate: Data, customer: String, at now: Date
    ) throws(DocumentError) {
        let signer = try TrustServerSigner(certificate: certificate)
        let (document, content) = try TrustServerDocument.withContent(
            verifying: data, by: signer, customer: customer, at: now, limits: DocumentLimits(),
            allowsLegacyDigests: false)
        timestamp = document.timestamp
        signedContent = content
    }

    /// Whether clients with default settings accept the document, now or after its timestamp.
    public func counts(at time: Date) -> Bool {
        let lifetime = TrustServerConfiguration.usualMaximumAge + TrustServerConfiguration.usualGrace
        return time.timeIntervalSince(timestamp) <= lifetime.inSeconds
    }

    private struct Content: Decodable {
        struct Host: Decodable {
            let hostname: String
            let port: Port?
            let fp: [String]
            let pk: [String]
        }

        let hashes: [Host]
    }

    /// A port. The published script writes it as a string.
    private struct Port: Decodable {
        let number: Int?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self.number = number
            } else {
                number = Int(try container.decode(String.self))
            }
        }
    }

    /// The entries of the document, to be re-signed unchanged.
    public var entries: [TrustServerHost] {
        guard let hashes = try? JSONDecoder().decode(Content.self, from: signedContent).hashes else { return [] }
        return hashes.map {
            TrustServerHost(
                hostname: $0.hostname, port: $0.port?.number ?? 443, fingerprints: $0.fp, publicKeys: $0.pk,
                validated: timestamp)
        }
    }

    /// Each host with its pins, as if it had been seen with all of them when the document was made. This includes
    /// backups, because the document does not distinguish them.
    /// - Parameter time: the current time. A timestamp in the future does not make the pins any newer.
    public func hosts(at time: Date) -> [SeenHost] {
        guard let hashes = try? JSONDecoder().decode(Content.self, from: signedContent).hashes else { return [] }
        let validated = min(timestamp, time.cutToSeconds)
        var hosts: [SeenHost] = []
        var places: [[String]: Int] = [:]
        for entry in hashes {
            guard let host = try? DialedHost(entry.hostname, port: entry.port?.number ?? 443) else { continue }
            let fingerprints = entry.fp.map { ASCIIText.folded($0) }.filter(PublishingMemory.isFingerprint)
            let keys = entry.pk.filter(PublishingMemory.isPublicKey)
            let place = [host.name, "\(host.port ?? 443)"]
            let index = places[place]
            let known = index.map { hosts[$0] }
            let seen = SeenHost(
                hostname: host.name, port: host.port ?? 443, validated: validated,
                certificates: Self.joined(known?.certificates, fingerprints),
                publicKeys: Self.joined(known?.publicKeys, keys))
            if let index {
                hosts[index] = seen
            } else {
                places[place] = hosts.count
                hosts.append(seen)
            }
        }
        return hosts
    }

    private static func joined(_ known: [SeenHost.SeenPin]?, _ texts: [String]) -> [SeenHost.SeenPin] {
        var seen = Set((known ?? []).map(\.text))
        let more = texts.filter { seen.insert($0).inserted }.map { SeenHost.SeenPin(text: $0, unseen: .zero) }
        return Array(((known ?? []) + more).prefix(SeenHost.maximumPins))
    }
}
