package import Foundation
package import Holdfast

/// The published pins in which a change of keys is prepared, or earlier ones: a pin file, or a signed list.
package struct RolloverDocument: Sendable {
    private enum Content {
        case file(PinFile)
        case list(FingerprintList)
    }

    private let name: String
    private let octets: Data
    private let kind: PublicationOutlook.Document.Kind
    private let content: Content
    /// When the document says that it was made.
    package let issued: Date?
    /// For how long clients may use an older document, according to the document or to what clients of its kind
    /// do; nil for a file that apps ship.
    package let staleness: Duration?

    /// More than a document of either kind may have, so that its reader says what is wrong.
    package static let maximumBytes = max(8 << 20, DocumentLimits().bytes + 1)

    /// Reads a pin file, or a list that is signed with a key.
    /// - Parameters:
    ///   - data: the document.
    ///   - name: its name for messages.
    ///   - key: the list's signer; nil for a pin file.
    ///   - remedy: what to do with a list without its key.
    package init(
        _ data: Data, named name: String, key: DocumentPublicKey?, remedy: String? = nil
    ) throws(PublishingError) {
        (self.name, octets) = (name, data)
        guard let key else {
            let remedies = remedy.map { [DocumentKind.signedList: $0] } ?? [:]
            let file = try PinFileDocument(data, named: name, remedies: remedies).file
            content = .file(file)
            kind = .shippedPins
            issued = file.issuedAt
            staleness = file.refresh.map { .seconds(Double($0.after) * (1 + $0.jitter.value)) }
            return
        }
        do throws(DocumentError) {
            content = .list(try FingerprintList(verifying: octets, with: key))
            kind = .staticList(publicKey: key.base64)
            issued = nil
            staleness = UpdateSchedule().updateInterval
        } catch {
            throw PublishingError(
                .invalidDocument, of: name, expected: "a list that verifies under its signer's key",
                found: "one that does not verify: \(error)")
        }
    }

    /// Whether the document pins certificates: a list does, a pin file pins keys.
    package var pinsCertificates: Bool { if case .list = content { true } else { false } }

    /// The document as clients may hold it.
    package func held(from published: Date, until replaced: Date? = nil, in version: String? = nil)
        -> PublicationOutlook.Document
    {
        .init(
            name, kind: kind, octets: octets, published: published, replaced: replaced,
            appVersions: version.map { [$0] } ?? [])
    }

    /// All hosts that can be asked, in the order of the document, and the patterns that cannot be dialed.
    /// - Parameter defaultPort: the port of a place that names none.
    package func hosts(defaultPort: Int) -> (hosts: [DialedHost], patterns: [String]) {
        let places: [PublishedPins.Place] =
            switch content {
            case .file(let file): PublishedPins.places(of: file)
            case .list(let list): list.entries.map { .init(name: $0.name, port: nil) }
            }
        var hosts: [DialedHost] = []
        var patterns: [String] = []
        for place in places {
            guard let host = try? DialedHost(place.name, port: place.port ?? defaultPort) else {
                if !patterns.contains(where: { $0.utf8.elementsEqual(place.name.utf8) }) { patterns.append(place.name) }
                continue
            }
            if !hosts.contains(host) { hosts.append(host) }
        }
        return (hosts, patterns)
    }

    /// Makes sure that the document decides about a host.
    package func check(_ host: DialedHost, at time: Date) throws(PublishingError) {
        let question = PinQuestion(host: host, time: time)
        switch content {
        case .file(let file):
            guard case .required = file.answer(to: question).content else {
                throw PublishingError(
                    .invalidDocument, of: name, expected: "a pin file that has pins of \(host)",
                    found: "no pins of \(host)")
            }
        case .list(let list):
            switch FingerprintListPins(list).answer(to: question).content {
            // Clients know the host, but may have no valid pin for it.
            case .required, .none(.expired, _): break
            case .none, .exempt:
                throw PublishingError(
                    .invalidDocument, of: name, expected: "a list that has an entry of \(host)",
                    found: "no entry that counts")
            }
        }
    }
}
