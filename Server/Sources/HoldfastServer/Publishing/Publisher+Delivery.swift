import Foundation
import Holdfast

extension Publisher {
    /// What became of the documents on their way to the folder, or to other places.
    public struct Delivery: Sendable, Hashable {
        /// The paths that a client has read back.
        public var confirmed: [String] = []
        /// What clients do not find as it was written, in words. It counts as delivered, because those who approved it have
        /// forced the gate `readback`.
        public var forced: [String] = []
        /// Why others are not there yet, in words.
        public var problems: [String] = []

        /// Takes what became of other documents as well.
        public mutating func add(_ other: Delivery) {
            confirmed += other.confirmed
            forced += other.forced
            problems += other.problems
        }
    }

    /// A document that is to be written to the folder.
    private struct Outgoing: Sendable {
        let document: Catalog.StoredDocument
        /// What clients verify a list with; nil for other documents.
        let key: Catalog.Key?
        /// Whether clients find the folder at a public address, where ``readBack()`` goes on with it.
        let isReadAtAddress: Bool
    }

    /// Writes to the folder of this machine what was published and is not there, whichever machine has signed it, and reads
    /// it there. Nothing goes to an older version, and no file of a repository is written before those that it names. What
    /// fails is tried again later.
    /// - Throws: ``ServerError`` of the database.
    public func deliver() async throws(ServerError) -> Delivery {
        var delivery = Delivery()
        let now = try await catalog.now()
        // What could not be written keeps back what names it.
        var limits: [AppName: Int] = [:]
        for (name, version) in filled.missing(catalog.ledger.documents) {
            let rank = RepositoryPath.rank(of: name.name)
            if let rank, let limit = limits[name.app], rank > limit { continue }
            var isWaiting = !filled.isDue(name, version, at: now)
            if !isWaiting {
                do throws(ServerError) {
                    if try await write(name, version, &delivery) { filled.add(name, version) }
                } catch {
                    // A newer one is there already.
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

    /// - Returns: whether the folder has it; not if it is no longer the newest.
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

    /// The document, if it is the newest still.
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

    /// Whom the gate `readback` concerns, as a sentence.
    func clients(askingFor path: String, of app: AppName) async -> String {
        do throws(ServerError) {
            return " \(AffectedClients(try await catalog.scene(of: app)).asking(for: path))."
        } catch {
            return ""
        }
    }

    /// The gate `readback`: what is there are the very bytes, and a client takes them.
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
        // A trust server's document was read as a client does when it was signed.
        guard let key = outgoing.key else { return }
        _ = try ServerError.translating(.gate, of: path) { () throws(DocumentError) in
            try FingerprintList(
                verifying: Data(bytes),
                with: DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65))))
        }
    }

    /// Writes again what has arrived in the folder and is no longer there as it was signed: somebody removed or changed a
    /// file. Web servers would serve that until the next version, which a list may not have for months. What could not be
    /// written yet is left to ``deliver()``.
    /// - Returns: the paths of what was written again; and why others could not be, in words.
    /// - Throws: ``ServerError`` of the database.
    public func mendFolder() async throws(ServerError) -> Delivery {
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
                // Somebody has published a newer version meanwhile.
                if error.code != .outOfTurn { delivery.problems.append("\(name.name): \(error)") }
            }
        }
        return delivery
    }
}

extension PublicFolder {
    /// Whether a version of a document was written, and something is there still, or nothing of what is withdrawn: mending
    /// looks at what it is.
    func has(_ path: String, _ version: Ledger.Version) throws(ServerError) -> Bool {
        guard let noted = try self.version(of: path), noted == version.version else { return false }
        return FileManager.default.fileExists(atPath: url.appending(path: path).path) != version.isWithdrawn
    }
}
