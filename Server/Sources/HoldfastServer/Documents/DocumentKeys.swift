import Foundation
import HoldfastSigning

/// What signs the documents of an app: its own keys, or keys that nobody trusts, for rehearsals.
struct DocumentKeys: Sendable {
    /// Signs lists and challenge answers.
    let fingerprints: SigningKey?
    /// Signs trust-server documents.
    let trustServer: TrustServerKey?
    /// Sign snapshot and timestamp of a repository.
    let repository: [TUFSigningKey]

    /// No keys: to know what would be signed.
    init() {
        fingerprints = nil
        trustServer = nil
        repository = []
    }

    /// Makes keys that are thrown away: what they sign shows how clients fare, and is worth nothing to anybody.
    /// - Throws: ``ServerError`` `notPublishable` for a customer that no trust server can have.
    init(rehearsing content: Content, at now: Int64) throws(ServerError) {
        fingerprints = SigningKey()
        // A repository is rehearsed as a whole, with keys of its own.
        repository = []
        let customer = content.formats.first { $0.kind == .trustServer }?.customer
        trustServer = try customer.map { customer throws(ServerError) in
            try ServerError.translating(.notPublishable, of: "customer \(customer)") { () throws(SigningError) in
                try TrustServerKey(customer: customer, kind: .p256, at: Date(timeIntervalSince1970: Double(now)))
            }
        }
    }

    /// Opens the keys of an app, for what its approvers approved.
    /// - Parameters:
    ///   - keys: the sealed keys.
    ///   - secret: what opens them.
    ///   - permit: what was approved.
    /// - Throws: ``ServerError`` `sealedKey`, or `notForThis` for the keys of another app.
    init(opening keys: SealedKeys, with secret: SigningSecret, for permit: SigningPermit) throws(ServerError) {
        guard keys.app == permit.content.app else {
            throw ServerError(
                .notForThis, of: "keys", expected: "those of \(permit.content.app)", found: "those of \(keys.app)")
        }
        fingerprints = try keys.fingerprints.map { key throws(ServerError) in
            let pem = try key.sealed.opened(with: secret)
            return try ServerError.translating(.sealedKey, of: key.sealed.place.id) { () throws(SigningError) in
                try SigningKey(pem: pem)
            }
        }
        trustServer = try keys.trustServer.map { key throws(ServerError) in
            let pem = try key.sealed.opened(with: secret)
            return try ServerError.translating(.sealedKey, of: key.sealed.place.id) { () throws(SigningError) in
                try TrustServerKey(certificate: Data(key.certificate ?? []), privateKeyPEM: pem)
            }
        }
        var repository: [TUFSigningKey] = []
        for key in [keys.snapshot, keys.timestamp].compactMap(\.self) {
            repository.append(try Self.repositoryKey(key, with: secret))
        }
        // One that is prepared and does not open holds up nothing; the root that names it is refused then.
        for key in keys.next {
            if let opened = try? Self.repositoryKey(key, with: secret) { repository.append(opened) }
        }
        self.repository = repository
    }

    private static func repositoryKey(
        _ key: Catalog.Key, with secret: SigningSecret
    ) throws(ServerError) -> TUFSigningKey {
        let pem = try key.sealed.opened(with: secret)
        return try ServerError.translating(.sealedKey, of: key.sealed.place.id) { () throws(SigningError) in
            try TUFSigningKey(pem: pem)
        }
    }
}

/// The sealed keys of an app that sign what its content publishes.
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
