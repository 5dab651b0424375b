import Foundation
package import Holdfast
package import HoldfastSigning
package import ServerFoundation
package import ServerModel
import ServerStore

/// Makes the documents of a content with some keys. The result depends only on the content, the keys and the time.
package struct DocumentMaker: Sendable {
    package let content: Content
    package let keys: DocumentKeys
    /// DER of all known SubjectPublicKeyInfo, by its SHA-256. A content has only the digest of a key.
    package let publicKeys: [Digest: [UInt8]]
    /// The last second for which entries of a list are valid: ``SigningPermit/limit``.
    package var limit = Int64.max

    package init(content: Content, keys: DocumentKeys, publicKeys: [Digest: [UInt8]], limit: Int64 = Int64.max) {
        self.content = content
        self.keys = keys
        self.publicKeys = publicKeys
        self.limit = limit
    }

    /// The lifetime of a trust server's document for clients that start, in seconds.
    package static let trustServerLife: Int64 = 600

    /// All documents that are files.
    /// - Parameter now: when they are made, in seconds since 1970.
    /// - Throws: ``ServerError`` `outOfTurn` after the end of the content; `notPublishable` for content that a format
    ///   cannot express.
    package func documents(at now: Int64) throws(ServerError) -> [SignedDocument] {
        guard now <= content.end else { throw content.hasEnded }
        var documents: [SignedDocument] = []
        for format in content.formats {
            guard let path = format.path(of: content.app) else { continue }
            let end =
                switch format.kind {
                case .trustServer: min(content.end, now + Self.trustServerLife)
                case .list: min(content.end, limit)
                default: content.end
                }
            documents.append(
                SignedDocument(
                    kind: format.kind, path: path, mediaType: format.mediaType, bytes: try bytes(of: format, at: now),
                    refresh: format.refresh, end: end))
        }
        return documents
    }

    /// Makes all documents that are files. If programs hold keys, waits for them on threads that may block.
    package func signedDocuments(at now: Int64) async throws(ServerError) -> [SignedDocument] {
        guard keys.needPrograms else { return try documents(at: now) }
        return try await ProgramThreads.run { () throws(ServerError) in try documents(at: now) }
    }

    private func bytes(of format: ContentFormat, at now: Int64) throws(ServerError) -> [UInt8] {
        switch format.kind {
        case .challenge, .repository: []
        case .list: try list(at: now)
        case .trustServer: try trustServerDocument(of: format, at: now)
        case .pinFile: try PinFileMaker(content: content, format: format).pinFile(at: now)
        }
    }

    private func list(at now: Int64) throws(ServerError) -> [UInt8] {
        guard let key = keys.fingerprints else { throw missing(.fingerprints) }
        let draft = PinListDraft(try content.entries(at: now, until: limit))
        return try Self.signing("list") { () throws(SigningError) in Array(try draft.signed(by: key)) }
    }

    private func trustServerDocument(of format: ContentFormat, at now: Int64) throws(ServerError) -> [UInt8] {
        guard let key = keys.trustServer else { throw missing(.trustServer) }
        let draft = try trustServerDraft(of: format, at: now)
        return try Self.signing("trust-server document") { () throws(SigningError) in
            Array(try draft.signed(by: key))
        }
    }

    /// Translates errors of signing. A failed program may sign later; other errors are about the content.
    private static func signing(
        _ subject: String, _ body: () throws(SigningError) -> [UInt8]
    ) throws(ServerError) -> [UInt8] {
        do throws(SigningError) {
            return try body()
        } catch {
            let isOutside = error.code == .signerFailed || error.code == .wrongSignature
            throw ServerError(
                isOutside ? .signerProgram : .notPublishable, of: subject, expected: error.expected,
                found: error.found, remedy: error.remedy)
        }
    }

    /// The unsigned content of a trust server's document.
    package func trustServerDraft(of format: ContentFormat, at now: Int64) throws(ServerError) -> TrustServerDraft {
        let time = Date(timeIntervalSince1970: Double(now))
        var hosts: [TrustServerHost] = []
        for host in content.hosts { hosts.append(try trustServerHost(host, at: now)) }
        return try ServerError.translating(.notPublishable, of: "trust-server document") { () throws(SigningError) in
            try TrustServerDraft(customer: format.customer ?? "", hosts: hosts, timestamp: time)
        }
    }

    private func trustServerHost(_ host: ContentHost, at now: Int64) throws(ServerError) -> TrustServerHost {
        guard !host.name.utf8.starts(with: "*".utf8) else {
            throw ServerError(
                .notPublishable, of: "host \(host.name)",
                expected: "names without a wildcard in a trust-server document",
                found: "a pattern, which none of its clients would look up",
                remedy: "List each host, or publish another format.")
        }
        var keys: [String] = []
        for key in host.keys where key.state != .candidate {
            guard let bytes = publicKeys[key.pin] else {
                throw ServerError(
                    .notPublishable, of: "host \(host.name)", expected: "the whole key \(key.pin)",
                    found: "its digest only", remedy: "Announce the key itself; a trust server's document contains it.")
            }
            keys.append(Base64.encode(bytes))
        }
        return TrustServerHost(
            hostname: host.name, port: Int(host.port),
            fingerprints: host.certificates.filter { $0.expires >= now }.map(\.fingerprint.description),
            publicKeys: keys, validated: Date(timeIntervalSince1970: Double(now)))
    }

    private func missing(_ purpose: SealedKey.Purpose) -> ServerError {
        ServerError(
            .notPublishable, of: "app \(content.app)", expected: "a key for \(purpose.rawValue)", found: "none",
            remedy: "Make one: `holdfast-server app key \(content.app) --data DIR`.")
    }
}

extension Content {
    /// The error for a content past its end: nothing is signed for it anymore.
    package var hasEnded: ServerError {
        ServerError(
            .outOfTurn, of: "content of \(app)", expected: "a time until \(UTCText.encode(end) ?? "\(end)")",
            found: "a later one",
            remedy: "Propose a change with a later end; nothing is signed for this content anymore.")
    }

    /// The last second at which ``entries(at:)`` is unchanged; the maximum integer if nothing expires.
    package func nextExpiry(after now: Int64) -> Int64 {
        hosts.lazy.flatMap(\.certificates).map(\.expires).filter { $0 >= now }.min() ?? .max
    }

    /// The certificates that lists and challenge answers name at a time, sorted. Clients trust each one until it
    /// expires or the content ends, whichever is first, so that an old list never extends an approval.
    /// - Parameters:
    ///   - now: the time, in seconds since 1970.
    ///   - limit: the last second for which they are valid: ``SigningPermit/limit``.
    /// - Throws: ``ServerError`` `notPublishable` for content that a list cannot express.
    package func entries(at now: Int64, until limit: Int64 = .max) throws(ServerError) -> [FingerprintEntry] {
        var entries: [FingerprintEntry] = []
        for host in hosts {
            for certificate in host.certificates where certificate.expires >= now {
                let subject = "host \(host.name)"
                let pin = try ServerError.translating(.notPublishable, of: subject) { () throws(PinError) in
                    try Pin(subject: .certificate, digest: certificate.fingerprint.bytes)
                }
                entries.append(
                    try ServerError.translating(.notPublishable, of: subject) { () throws(DocumentError) in
                        try FingerprintEntry(
                            name: host.name, pin: pin,
                            until: Date(timeIntervalSince1970: Double(min(certificate.expires, end, limit) + 1)),
                            depth: Int(certificate.depth))
                    })
            }
        }
        return PinListDraft(entries).entries
    }
}
