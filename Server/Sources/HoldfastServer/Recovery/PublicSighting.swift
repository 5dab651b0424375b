import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import PinChanges
import ServerFoundation
import ServerModel
import ServerStore

/// The public document at one path of one destination, compared with the backup.
enum PublicSighting: Sendable {
    /// The document of the backup.
    case known
    /// Older than the document of the backup.
    case older
    /// The document of the backup, signed again later.
    case renewed(Catalog.StoredDocument)
    /// Another document, signed by the app's key and not older.
    case newer(Catalog.StoredDocument)
    /// Another document in a format without signatures.
    case unsigned
    /// A document that the app's key did not sign, and the reason why it is refused.
    case foreign(String)
}

/// Compares public documents with the backup of an app.
struct PublicStateJudge: Sendable {
    let app: AppName
    /// The documents of the backup, by their paths.
    let known: [String: Catalog.StoredDocument]
    /// The digests of earlier versions.
    let earlier: Set<Digest>
    /// The published content of the app; nil if it never published.
    let content: Content?
    let fingerprints: Catalog.Key?
    let trustServer: Catalog.Key?
    let publicKeys: [Digest: [UInt8]]
    let now: Int64

    /// - Throws: ``ServerError`` `clock` for a document signed after the time of this machine.
    func judge(_ bytes: [UInt8], at path: String) throws(ServerError) -> PublicSighting {
        if let known = known[path], !known.isWithdrawn, known.bytes == bytes { return .known }
        if earlier.contains(Digest(of: bytes)) { return .older }
        if path.utf8.starts(with: "lists/".utf8) { return list(bytes, path) }
        if path.utf8.starts(with: "trust/".utf8) { return try trustServerDocument(bytes, path) }
        return .unsigned
    }

    private func document(_ bytes: [UInt8], _ path: String, signedAt: Int64, end: Int64) -> Catalog.StoredDocument {
        Catalog.StoredDocument(
            app: app, path: path, version: 0, bytes: bytes, signedAt: signedAt, end: end, isWithdrawn: false)
    }

    private func list(_ bytes: [UInt8], _ path: String) -> PublicSighting {
        guard let key = fingerprints else { return .foreign("the backup has no key of the app for lists") }
        do throws(DocumentError) {
            let list = try FingerprintList(
                verifying: Data(bytes),
                with: DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65))))
            let end = list.entries.map { Int64($0.end.timeIntervalSince1970) - 1 }.max() ?? now
            return .newer(document(bytes, path, signedAt: now, end: end))
        } catch {
            return .foreign("\(error)")
        }
    }

    private func trustServerDocument(_ bytes: [UInt8], _ path: String) throws(ServerError) -> PublicSighting {
        guard let format = content?.formats.first(where: { $0.kind == .trustServer }), let customer = format.customer,
            let certificate = trustServer?.certificate, let content
        else { return .foreign("the backup has no trust server of the app") }
        let served: PublishedDocument
        do throws(DocumentError) {
            served = try PublishedDocument(
                reading: Data(bytes), signedBy: Data(certificate), customer: customer,
                at: Date(timeIntervalSince1970: Double(now)))
        } catch {
            return .foreign("\(error)")
        }
        let time = Int64(served.timestamp.timeIntervalSince1970)
        guard time <= now else {
            throw ServerError(.clock, of: path, expected: "a time from \(time) on", found: "\(now)")
        }
        guard time >= known[path]?.signedAt ?? 0 else { return .older }
        let found = document(bytes, path, signedAt: time, end: time + DocumentMaker.trustServerLife)
        let maker = DocumentMaker(content: content, keys: DocumentKeys(), publicKeys: publicKeys)
        let expected = try? maker.trustServerDraft(of: format, at: time).content
        return expected == served.signedContent ? .renewed(found) : .newer(found)
    }
}
