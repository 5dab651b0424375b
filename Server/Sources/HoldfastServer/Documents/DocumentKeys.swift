import Foundation
import Holdfast
import HoldfastSigning

/// What signs the documents of an app: its own keys, or keys that nobody trusts, for rehearsals.
struct DocumentKeys: Sendable {
    /// Signs lists.
    let fingerprints: (any DocumentSigner)?
    /// Signs challenge answers, with the same key.
    let challenges: (any DocumentSigner)?
    /// Signs trust-server documents.
    let trustServer: (any TrustServerDocumentSigner)?
    /// Sign snapshot and timestamp of a repository.
    let repository: [TUFSigningKey]

    /// No keys: to know what would be signed.
    init() {
        fingerprints = nil
        challenges = nil
        trustServer = nil
        repository = []
    }

    /// Makes keys that are thrown away: what they sign shows how clients fare, and is worth nothing to anybody.
    /// - Throws: ``ServerError`` `notPublishable` for a customer that no trust server can have.
    init(rehearsing content: Content, at now: Int64) throws(ServerError) {
        let key = SigningKey()
        (fingerprints, challenges) = (key, key)
        // A repository is rehearsed as a whole, with keys of its own.
        repository = []
        let customer = content.formats.first { $0.kind == .trustServer }?.customer
        trustServer = try customer.map { customer throws(ServerError) in
            try ServerError.translating(.notPublishable, of: "customer \(customer)") { () throws(SigningError) in
                try TrustServerKey(customer: customer, kind: .p256, at: Date(timeIntervalSince1970: Double(now)))
            }
        }
    }

    /// Opens the keys of an app that the server has, and prepares those that programs have, for what its approvers
    /// approved.
    /// - Parameters:
    ///   - keys: the keys.
    ///   - secret: what opens them; nil if only programs can sign.
    ///   - permit: what was approved.
    /// - Throws: ``ServerError`` `sealedKey`, `secretFile` for a key that needs the secret, or `notForThis` for the keys of
    ///   another app.
    init(opening keys: SealedKeys, with secret: SigningSecret?, for permit: SigningPermit) throws(ServerError) {
        guard keys.app == permit.content.app else {
            throw ServerError(
                .notForThis, of: "keys", expected: "those of \(permit.content.app)", found: "those of \(keys.app)")
        }
        fingerprints = try keys.fingerprints.map { key throws(ServerError) in
            try key.documentSigner(for: .list, permit, secret)
        }
        // Programs are told what they sign; a key that the server has is opened once.
        challenges =
            if let key = keys.fingerprints, key.program != nil {
                try key.documentSigner(for: .challenge, permit, secret)
            } else {
                fingerprints
            }
        trustServer = try keys.trustServer.map { key throws(ServerError) in
            try key.trustServerSigner(permit, secret)
        }
        var repository: [TUFSigningKey] = []
        func use(of key: Catalog.Key) -> SigningRequest.Use { key.place.purpose == .snapshot ? .snapshot : .timestamp }
        for key in [keys.snapshot, keys.timestamp].compactMap(\.self) {
            repository.append(try key.repositorySigner(for: use(of: key), permit, secret))
        }
        // One that is prepared and does not open holds up nothing; the root that names it is refused then.
        for key in keys.next {
            if let opened = try? key.repositorySigner(for: use(of: key), permit, secret) { repository.append(opened) }
        }
        self.repository = repository
    }

    /// Whether programs have some of the keys, so that signing takes a while.
    var needPrograms: Bool {
        fingerprints is OutsideSigningKey || trustServer is OutsideTrustServerKey
    }
}

extension Catalog.Key {
    /// The private key, if the server has it; nil if a program does.
    private func pem(_ secret: SigningSecret?) throws(ServerError) -> String? {
        guard case .sealed(let sealed) = custody else { return nil }
        guard let secret else {
            throw ServerError(
                .secretFile, expected: "the secret", found: "none",
                remedy: "Put the file of the secret back that init wrote; nothing was signed.")
        }
        return try sealed.opened(with: secret)
    }

    private func program(_ permit: SigningPermit) -> ProgramSigner? {
        program.map {
            ProgramSigner(
                key: place, publicKey: publicKey, program: $0, content: permit.content, approved: permit.approved)
        }
    }

    fileprivate func documentSigner(
        for use: SigningRequest.Use, _ permit: SigningPermit, _ secret: SigningSecret?
    ) throws(ServerError) -> any DocumentSigner {
        if let program = program(permit) {
            let key = try ServerError.translating(.invalidValue, of: place.id) { () throws(DocumentError) in
                // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
                try DocumentPublicKey(base64: Base64.encode(publicKey.suffix(65)))
            }
            return OutsideSigningKey(publicKey: key) { try program.signature(of: $0, for: use) }
        }
        let pem = try pem(secret) ?? ""
        return try ServerError.translating(.sealedKey, of: place.id) { () throws(SigningError) in
            try SigningKey(pem: pem)
        }
    }

    fileprivate func trustServerSigner(
        _ permit: SigningPermit, _ secret: SigningSecret?
    ) throws(ServerError) -> any TrustServerDocumentSigner {
        let certificate = Data(certificate ?? [])
        if let program = program(permit) {
            return try ServerError.translating(.invalidValue, of: place.id) { () throws(SigningError) in
                try OutsideTrustServerKey(certificate: certificate) { request in
                    try program.signature(
                        of: request.message, for: .trustServer, document: Array(request.content))
                }
            }
        }
        let pem = try pem(secret) ?? ""
        return try ServerError.translating(.sealedKey, of: place.id) { () throws(SigningError) in
            try TrustServerKey(certificate: certificate, privateKeyPEM: pem)
        }
    }

    fileprivate func repositorySigner(
        for use: SigningRequest.Use, _ permit: SigningPermit, _ secret: SigningSecret?
    ) throws(ServerError) -> TUFSigningKey {
        let (program, pem) = (program(permit), try pem(secret) ?? "")
        return try ServerError.translating(.sealedKey, of: place.id) { () throws(SigningError) in
            guard let program else { return try TUFSigningKey(pem: pem) }
            return TUFSigningKey(publicKey: try TUFPublicKey(der: publicKey)) {
                try program.signature(of: $0, for: use)
            }
        }
    }
}

/// The keys of an app that sign what its content publishes.
struct SealedKeys: Sendable {
    let app: AppName
    var fingerprints: Catalog.Key?
    var trustServer: Catalog.Key?
    var snapshot: Catalog.Key?
    var timestamp: Catalog.Key?
    /// Those that were prepared for the place of one of a repository: both sign what is published with the root that has
    /// the new one.
    var next: [Catalog.Key] = []

    /// All of them.
    var all: [Catalog.Key] { [fingerprints, trustServer, snapshot, timestamp].compactMap(\.self) + next }
}
