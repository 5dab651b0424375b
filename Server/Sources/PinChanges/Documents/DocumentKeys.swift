import Foundation
import Holdfast
package import HoldfastSigning
package import ServerFoundation
package import ServerModel
package import ServerStore

/// The keys that sign the documents of an app: its own keys, or throwaway keys for rehearsals.
package struct DocumentKeys: Sendable {
    /// Signs lists.
    package let fingerprints: (any DocumentSigner)?
    /// Signs challenge answers, with the same key.
    package let challenges: (any DocumentSigner)?
    /// Signs trust-server documents.
    package let trustServer: (any TrustServerDocumentSigner)?
    /// Sign snapshot and timestamp of a repository.
    package let repository: [TUFSigningKey]

    /// No keys, for a preview of the signed bytes.
    package init() {
        fingerprints = nil
        challenges = nil
        trustServer = nil
        repository = []
    }

    /// Makes throwaway keys for a rehearsal. No client trusts their signatures.
    /// - Throws: ``ServerError`` `notPublishable` for a customer that no trust server can have.
    package init(rehearsing content: Content, at now: Int64) throws(ServerError) {
        let key = SigningKey()
        (fingerprints, challenges) = (key, key)
        // The rehearsal of a repository makes its own keys.
        repository = []
        let customer = content.formats.first { $0.kind == .trustServer }?.customer
        trustServer = try customer.map { customer throws(ServerError) in
            try ServerError.translating(.notPublishable, of: "customer \(customer)") { () throws(SigningError) in
                try TrustServerKey(customer: customer, kind: .p256, at: Date(timeIntervalSince1970: Double(now)))
            }
        }
    }

    /// Opens the keys of an app that the server holds, and prepares those that programs hold, for an approved content.
    /// - Parameters:
    ///   - keys: the keys.
    ///   - secret: what opens them; nil if only programs can sign.
    ///   - permit: what was approved.
    /// - Throws: ``ServerError`` `sealedKey`, `secretFile` for a key that needs the secret, or `notForThis` for the keys of
    ///   another app.
    package init(opening keys: SealedKeys, with secret: SigningSecret?, for permit: SigningPermit) throws(ServerError) {
        guard keys.app == permit.content.app else {
            throw ServerError(
                .notForThis, of: "keys", expected: "those of \(permit.content.app)", found: "those of \(keys.app)")
        }
        fingerprints = try keys.fingerprints.map { key throws(ServerError) in
            try key.documentSigner(for: .list, permit, secret)
        }
        // A program is notified of the use of each signature; the server opens its own key once.
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
        // A prepared key that does not open must not block a publication. The root that names it is refused then.
        for key in keys.next {
            if let opened = try? key.repositorySigner(for: use(of: key), permit, secret) { repository.append(opened) }
        }
        self.repository = repository
    }

    /// Whether programs hold some of the keys, so that signing takes a while.
    var needPrograms: Bool {
        fingerprints is OutsideSigningKey || trustServer is OutsideTrustServerKey
    }
}

extension Catalog.Key {
    /// The private key; nil if a program holds it.
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
package struct SealedKeys: Sendable {
    package let app: AppName
    package var fingerprints: Catalog.Key?
    package var trustServer: Catalog.Key?
    package var snapshot: Catalog.Key?
    package var timestamp: Catalog.Key?
    /// The prepared replacements of repository keys. The old key and the new one both sign a publication whose root
    /// lists the new one.
    package var next: [Catalog.Key] = []

    package init(
        app: AppName, fingerprints: Catalog.Key? = nil, trustServer: Catalog.Key? = nil, snapshot: Catalog.Key? = nil,
        timestamp: Catalog.Key? = nil, next: [Catalog.Key] = []
    ) {
        self.app = app
        self.fingerprints = fingerprints
        self.trustServer = trustServer
        self.snapshot = snapshot
        self.timestamp = timestamp
        self.next = next
    }

    package var all: [Catalog.Key] { [fingerprints, trustServer, snapshot, timestamp].compactMap(\.self) + next }
}
