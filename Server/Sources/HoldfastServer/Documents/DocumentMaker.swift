import Foundation
import Holdfast
import HoldfastSigning

/// Makes the documents of a content with some keys. What it makes follows from the content, the keys and the time alone.
struct DocumentMaker: Sendable {
    let content: Content
    let keys: DocumentKeys
    /// DER of every SubjectPublicKeyInfo that is known, by its SHA-256: a content has only that of a key.
    let publicKeys: [Digest: [UInt8]]
    /// The last second for which entries of a list are valid: ``SigningPermit/limit``.
    var limit = Int64.max

    /// For how many seconds clients that begin take a trust server's document.
    static let trustServerLife: Int64 = 600

    /// All documents that are files.
    /// - Parameter now: when they are made, in seconds since 1970.
    /// - Throws: ``ServerError`` `outOfTurn` after the end of the content; `notPublishable` for what a format cannot say.
    func documents(at now: Int64) throws(ServerError) -> [SignedDocument] {
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

    /// The same, where programs may have the keys: it waits for them on threads that may.
    func signedDocuments(at now: Int64) async throws(ServerError) -> [SignedDocument] {
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

    /// What a program did not sign can be published once it does; other refusals are about the content.
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

    /// What is signed for a trust server.
    func trustServerDraft(of format: ContentFormat, at now: Int64) throws(ServerError) -> TrustServerDraft {
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
    /// Nothing is signed for it anymore.
    var hasEnded: ServerError {
        ServerError(
            .outOfTurn, of: "content of \(app)", expected: "a time until \(UTCText.encode(end) ?? "\(end)")",
            found: "a later one",
            remedy: "Propose a change with a later end; nothing is signed for this content anymore.")
    }

    /// The last second for which ``entries(at:)`` says the same as at a time; the greatest number if nothing expires.
    func nextExpiry(after now: Int64) -> Int64 {
        hosts.lazy.flatMap(\.certificates).map(\.expires).filter { $0 >= now }.min() ?? .max
    }

    /// The certificates that lists and challenge answers name at a time, sorted. Clients trust each until it expires or the
    /// content ends, whatever is first: whoever keeps an old list, or serves one, has nothing that was approved for longer.
    /// - Parameters:
    ///   - now: the time, in seconds since 1970.
    ///   - limit: the last second for which they are valid: ``SigningPermit/limit``.
    /// - Throws: ``ServerError`` `notPublishable` for what a list cannot say.
    func entries(at now: Int64, until limit: Int64 = .max) throws(ServerError) -> [FingerprintEntry] {
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
