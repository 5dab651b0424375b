import Foundation
import PinChanges
package import ServerFoundation
import ServerModel
package import ServerStore

extension PublicFolder {
    /// The refresh interval of clients and caches for documents with an unknown end, in seconds.
    private static let refresh: Int64 = 60

    /// All documents of the folder, unchanged. Clients refuse expired ones by themselves.
    /// - Parameter now: seconds since 1970.
    package func snapshot(at now: Int64) -> PublishedSnapshot {
        var documents: [String: PublishedSnapshot.Document] = [:]
        for path in paths() {
            if let bytes = try? read(path) { documents[path] = document(bytes, at: path, now) }
        }
        return PublishedSnapshot(documents: documents)
    }

    /// The documents of an app that the folder has as in the audit, for an app whose rows are lost.
    package func documents(of app: AppName, _ ledger: Ledger, at now: Int64) -> [String: PublishedSnapshot.Document] {
        var documents: [String: PublishedSnapshot.Document] = [:]
        for (name, version) in ledger.documents where name.app == app && !version.isWithdrawn {
            guard let bytes = try? read(name.name), Digest(of: bytes) == version.digest else { continue }
            documents[name.name] = document(bytes, at: name.name, now)
        }
        return documents
    }

    private func document(_ bytes: [UInt8], at path: String, _ now: Int64) -> PublishedSnapshot.Document {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.appending(path: path).path)
        let written = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return PublishedSnapshot.Document(
            bytes: bytes, mediaType: Self.mediaType(of: path), signedAt: Int64(exactly: written.rounded(.down)) ?? 0,
            refresh: Self.refresh, end: now + 2 * Self.refresh)
    }

    private static let kinds: [(suffix: String, kind: ContentFormat.Kind)] = [
        (".json.signed", .trustServer), (".json", .list),
    ]

    package static func mediaType(of path: String) -> String {
        let found = kinds.first { path.utf8.suffix($0.suffix.utf8.count).elementsEqual($0.suffix.utf8) }
        let format = found.flatMap { found in
            try? ContentFormat(found.kind, refresh: refresh, customer: found.kind == .trustServer ? "any" : nil)
        }
        return format?.mediaType ?? "application/octet-stream"
    }
}
