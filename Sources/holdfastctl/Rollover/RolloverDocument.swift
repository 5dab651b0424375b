import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// The published pins in which a change of keys is prepared, or earlier ones: a pin file, or a signed list.
struct RolloverDocument: Sendable {
    private enum Content {
        case file(PinFile)
        case list(FingerprintList)
    }

    private let name: String
    private let octets: Data
    private let kind: PublicationOutlook.Document.Kind
    private let content: Content
    /// When the document says that it was made.
    let issued: Date?
    /// For how long clients may use an older document, according to the document or to what clients of its kind
    /// do; nil for a file that apps ship.
    let staleness: Duration?

    /// Reads a pin file, or a list that is signed with a key.
    init(_ path: String, key: DocumentPublicKey?) throws(CommandFailure) {
        name = path
        octets = try InputFile.content(of: path, maximumBytes: max(8 << 20, DocumentLimits().bytes + 1))
        guard let key else {
            let file = try PinFileReading.pinFile(
                octets, named: path, remedies: [.signedList: "Give the signer's public key with --public-key."])
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
            staleness = UpdateSchedule().periodicInterval
        } catch {
            throw CommandFailure(.invalidList, "\(path) does not verify: \(error)")
        }
    }

    /// Whether the document pins certificates: a list does, a pin file pins keys.
    var pinsCertificates: Bool { if case .list = content { true } else { false } }

    /// The document as clients may hold it.
    func held(from published: Date, until replaced: Date? = nil, in version: String? = nil)
        -> PublicationOutlook.Document
    {
        .init(
            name, kind: kind, octets: octets, published: published, replaced: replaced,
            appVersions: version.map { [$0] } ?? [])
    }

    /// All hosts that can be asked, in the order of the document, and the patterns that cannot be dialed.
    func hosts() -> (hosts: [DialedHost], patterns: [String]) {
        let places: [PublishedPins.Place] =
            switch content {
            case .file(let file): PublishedPins.places(of: file)
            case .list(let list): list.entries.map { .init(name: $0.name, port: nil) }
            }
        var hosts: [DialedHost] = []
        var patterns: [String] = []
        for place in places {
            guard let host = try? DialedHost(place.name, port: place.port ?? ServerAddress.defaultPort) else {
                if !patterns.contains(where: { $0.utf8.elementsEqual(place.name.utf8) }) { patterns.append(place.name) }
                continue
            }
            if !hosts.contains(host) { hosts.append(host) }
        }
        return (hosts, patterns)
    }

    /// Makes sure that the document decides about a host.
    func check(_ host: DialedHost, at time: Date) throws(CommandFailure) {
        let question = PinQuestion(host: host, time: time)
        switch content {
        case .file(let file):
            guard case .required = file.answer(to: question).content else {
                throw CommandFailure(.invalidList, "the pin file has no pins of \(host)")
            }
        case .list(let list):
            switch FingerprintListPins(list).answer(to: question).content {
            // Clients know the host, but may have no valid pin for it.
            case .required, .none(.expired, _): break
            case .none, .exempt: throw CommandFailure(.invalidList, "the list has no entry of \(host) that counts")
            }
        }
    }
}
