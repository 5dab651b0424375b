package import Foundation
import Holdfast
package import HoldfastSigning

/// The documents of a trust server that clients may still hold after a round with other pins has replaced them, and the
/// file in which they are stored.
package struct ReplacedDocuments: Sendable, Equatable {
    /// A document as it was last served, and the time of its replacement.
    package struct Item: Sendable, Equatable {
        package let document: Data
        package fileprivate(set) var replaced: Date
    }

    /// The documents, the oldest first.
    package private(set) var items: [Item] = []

    /// The maximum number of documents, and their maximum total size in bytes. While a large fleet renews its
    /// certificates, every round has other pins.
    private static let (maximumCount, maximumTotal) = (16, 16 << 20)
    /// How long clients use a document, grace included.
    private static let lifetime = TrustServerConfiguration.usualMaximumAge + TrustServerConfiguration.usualGrace

    package init() {}

    /// Adds a document that is about to be replaced, and drops those that no client uses anymore.
    ///
    /// If there are too many, the previous document stands in for this one: its pins are still published in this one,
    /// because a round withdraws pins only after the overlap.
    package mutating func add(_ document: Data, replaced time: Date) {
        let time = time.cutToSeconds
        items.removeAll { $0.replaced.addingTimeInterval(Self.lifetime.inSeconds) <= time }
        // An interrupted round may already have recorded this document.
        if items.last?.document == document { items.removeLast() }
        let total = items.reduce(document.count) { $0 + $1.document.count }
        if items.count < Self.maximumCount, total <= Self.maximumTotal {
            items.append(Item(document: document, replaced: time))
        } else if !items.isEmpty {
            items[items.count - 1].replaced = time
        }
    }

    // MARK: File

    private struct File: Codable {
        struct Item: Codable {
            let document: Data
            let replaced: Int64
        }

        static let version = 1

        var version = File.version
        let documents: [Item]
    }

    /// Reads the file. The documents are not verified.
    /// - Throws: `SigningError` `damagedMemory`.
    package init(reading data: Data) throws(SigningError) {
        guard let file = try? JSONDecoder().decode(File.self, from: data), file.version == File.version,
            file.documents.count <= Self.maximumCount,
            file.documents.allSatisfy({ (0...Self.greatestTime).contains($0.replaced) })
        else {
            throw SigningError(
                .damagedMemory, expected: "version \(File.version) of the documents that rounds replaced",
                found: "something else")
        }
        items = file.documents.map { Item(document: $0.document, replaced: Date(wholeSeconds: $0.replaced)) }
    }

    /// The content of the file: JSON in UTF-8.
    package var data: Data {
        get throws(SigningError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let file = File(documents: items.map { .init(document: $0.document, replaced: $0.replaced.wholeSeconds) })
            do {
                return try encoder.encode(file)
            } catch {
                throw SigningError(.damagedMemory, expected: "what can be written as JSON", found: "something else")
            }
        }
    }

    /// Far beyond any date.
    private static let greatestTime: Int64 = 999_999_999_999

    // MARK: Evaluation

    /// The documents for an outlook. Those of another signer are left out, because clients with this one never accepted
    /// them.
    /// - Parameters:
    ///   - signer: the certificate with which clients are configured, DER or PEM.
    ///   - customer: the customer that clients are configured with.
    package func earlier(signedBy signer: Data, customer: String, at now: Date) -> EarlierDocuments {
        var gaps: [String] = []
        let own = try? CertificateFile.certificates(in: signer, named: "the signer").first?.der
        let documents = items.compactMap { item -> PublicationOutlook.Document? in
            let name = "an earlier document"
            let pins = try? PublishedPins(
                trustServerDocument: item.document, named: name, signer: signer, customer: customer, at: now)
            guard var document = pins?.documentOfOwnHosts else {
                let other = try? UnverifiedTrustServerDocument(item.document)
                let isOfAnotherSigner = other?.checkByItsSigner == .valid && other?.signer?.der != own
                if !isOfAnotherSigner {
                    gaps = ["a document that a round has replaced is damaged, and nobody knows what it pinned"]
                }
                return nil
            }
            (document.published, document.replaced) = (.distantPast, item.replaced)
            return document
        }
        let isFull = items.count == Self.maximumCount
        return EarlierDocuments(
            documents, gaps: gaps,
            premises: isFull ? ["of more replaced documents than are kept, the last stands for those after it"] : [])
    }
}

extension PublishedDocument {
    /// Whether clients with this document have the same pins for these hosts as clients with another one.
    func pinsTheSame(as hosts: [TrustServerHost]) -> Bool { Self.pins(of: entries) == Self.pins(of: hosts) }

    private static func pins(of hosts: [TrustServerHost]) -> [[String]: Set<String>] {
        Dictionary(hosts.map { ([$0.hostname, "\($0.port)"], Set($0.fingerprints + $0.publicKeys)) }) { $0.union($1) }
    }
}
