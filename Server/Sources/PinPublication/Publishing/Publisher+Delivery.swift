import Foundation
import Holdfast
import PinChanges
package import ServerFoundation
import ServerModel
package import ServerStore

extension Publisher {
    /// The result of delivering documents to the folder or other destinations.
    package struct Delivery: Sendable, Hashable {
        /// The paths that a client has read back.
        package var confirmed: [String] = []
        /// The documents that clients do not find as written, as text. They count as delivered, because their approvers
        /// have forced the gate `readback`.
        package var forced: [String] = []
        /// Why other documents are not delivered yet, as text.
        package var problems: [String] = []

        /// Adds the result of other deliveries.
        package mutating func add(_ other: Delivery) {
            confirmed += other.confirmed
            forced += other.forced
            problems += other.problems
        }
    }

    /// A document to write to the folder.
    private struct Outgoing: Sendable {
        let document: Catalog.StoredDocument
        /// The key with which clients verify a list; nil for other documents.
        let key: Catalog.Key?
        /// Whether clients find the folder at a public address. ``readBack()`` then continues there.
        let isReadAtAddress: Bool
    }

    /// Writes missing published documents to the folder of this machine, whichever machine signed them, and reads them
    /// back. Never replaces a newer version, and writes no file of a repository before those that it names. Retries
    /// failures later.
    /// - Throws: ``ServerError`` of the database.
    package func deliver() async throws(ServerError) -> Delivery {
        var delivery = Delivery()
        let now = try await catalog.now()
        // A file that could not be written holds back the files that name it.
        var limits: [AppName: Int] = [:]
        for (name, version) in filled.missing(catalog.ledger.documents) {
            let rank = RepositoryPath.rank(of: name.name)
            if let rank, let limit = limits[name.app], rank > limit { continue }
            var isWaiting = !filled.isDue(name, version, at: now)
            if !isWaiting {
                do throws(ServerError) {
                    if try await write(name, version, &delivery) { filled.add(name, version) }
                } catch {
                    // A newer version is there already.
                    guard error.code != .outOfTurn else { continue }
                    let clients = error.code == .gate ? await clients(askingFor: name.name, of: name.app) : ""
                    delivery.problems.append("\(name.name): \(error)\(clients)")
                    filled.fail(name, version, at: now)
                    isWaiting = true
                }
            }
            if isWaiting, let rank { limits[name.app] = rank }
        }
        return delivery
    }

    /// - Returns: whether the folder has it; false if it is no longer the newest version.
    private func write(
        _ name: Ledger.Name, _ version: Ledger.Version, _ delivery: inout Delivery
    ) async throws(ServerError) -> Bool {
        guard try !folder.has(name.name, version) else { return true }
        guard let outgoing = try await outgoing(name, version) else { return false }
        if version.isWithdrawn {
            try folder.remove(name.name, version: version.version)
        } else {
            try folder.write(outgoing.document.bytes, at: name.name, version: version.version)
        }
        try await enforceReadBack(of: outgoing.document, &delivery) { () throws(ServerError) in
            try readBack(outgoing)
        }
        if !outgoing.isReadAtAddress { delivery.confirmed.append(name.name) }
        return true
    }

    /// The document, if it is still the newest version.
    private func outgoing(_ name: Ledger.Name, _ version: Ledger.Version) async throws(ServerError) -> Outgoing? {
        try await catalog.look { [catalog] session, ledger throws(ServerError) in
            guard ledger.documents[name] == version,
                let document = try Catalog.newest(name.name, of: name.app, session, ledger)
            else { return nil }
            let isList = !document.isWithdrawn && document.path.utf8.starts(with: "lists/".utf8)
            return Outgoing(
                document: document,
                key: isList ? try Catalog.key(.fingerprints, of: name.app, catalog.server, session, ledger) : nil,
                isReadAtAddress: try Catalog.folderAddress(of: name.app, session, ledger) != nil)
        }
    }

    /// The effect on clients of a document that fails the gate `readback`, as a sentence.
    package func clients(askingFor path: String, of app: AppName) async -> String {
        do throws(ServerError) {
            return " \(AffectedClients(try await catalog.scene(of: app)).asking(for: path))."
        } catch {
            return ""
        }
    }

    /// The gate `readback`: the folder has the exact bytes, and a client accepts them.
    private func readBack(_ outgoing: Outgoing) throws(ServerError) {
        let (document, path) = (outgoing.document, outgoing.document.path)
        guard !document.isWithdrawn else {
            guard try folder.read(path) == nil else {
                throw ServerError(.gate, of: path, expected: "nothing", found: "a document that is no longer published")
            }
            return
        }
        guard let bytes = try folder.read(path), bytes == document.bytes else {
            throw ServerError(.gate, of: path, expected: "the document that was written", found: "another, or none")
        }
        // A trust server's document was verified as by a client when it was signed.
        guard let key = outgoing.key else { return }
        _ = try ServerError.translating(.gate, of: path) { () throws(DocumentError) in
            try FingerprintList(
                verifying: Data(bytes),
                with: DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65))))
        }
    }

    /// Rewrites delivered files that were removed or changed in the folder. Web servers would serve the change until
    /// the next version, which a list may not have for months. ``deliver()`` writes the documents that are not
    /// delivered yet.
    /// - Returns: the paths of the rewritten files, and the errors of others, as text.
    /// - Throws: ``ServerError`` of the database.
    package func mendFolder() async throws(ServerError) -> Delivery {
        var delivery = Delivery()
        let arrived = catalog.ledger.documents.filter { !$1.isWithdrawn && filled.has($0, $1) }
            .sorted { (RepositoryPath.rank(of: $0.key.name) ?? 0) < (RepositoryPath.rank(of: $1.key.name) ?? 0) }
        for (name, version) in arrived {
            do throws(ServerError) {
                if let bytes = try? folder.read(name.name), Digest(of: bytes) == version.digest { continue }
                guard let outgoing = try await outgoing(name, version) else { continue }
                try folder.write(outgoing.document.bytes, at: name.name, version: version.version)
                delivery.confirmed.append(name.name)
            } catch {
                // Another process has published a newer version meanwhile.
                if error.code != .outOfTurn { delivery.problems.append("\(name.name): \(error)") }
            }
        }
        return delivery
    }
}

extension PublicFolder {
    /// Whether a version of a document was written, and a file exists, or none if the version is withdrawn.
    /// ``Publisher/mendFolder()`` checks the content.
    package func has(_ path: String, _ version: Ledger.Version) throws(ServerError) -> Bool {
        guard let noted = try self.version(of: path), noted == version.version else { return false }
        return FileManager.default.fileExists(atPath: url.appending(path: path).path) != version.isWithdrawn
    }
}
