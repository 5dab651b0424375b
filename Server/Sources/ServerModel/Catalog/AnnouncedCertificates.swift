import Foundation
import Holdfast
package import ServerFoundation

/// The announcements of a host's owner: chains that the host will present, and backup keys.
package struct AnnouncedCertificates: Sendable, Hashable {
    /// The person or token that announced something, and the time.
    package struct Origin: Sendable, Hashable {
        /// The actor as the audit names it, such as `token NAME`.
        package let actor: String
        /// In seconds since 1970.
        package let time: Int64

        package init(actor: String, time: Int64) {
            self.actor = actor
            self.time = time
        }
    }

    /// An announced chain.
    package struct Chain: Sendable, Hashable {
        /// The chain.
        package let chain: CertificateChain
        /// The first second at which the host may present it, in seconds since 1970.
        package let begins: Int64
        /// The person or token that announced it; nil if that was not recorded.
        package let origin: Origin?

        /// Announces a chain.
        package init(_ chain: CertificateChain, from begins: Int64, origin: Origin? = nil) {
            self.chain = chain
            self.begins = begins
            self.origin = origin
        }
    }

    /// The chains, by their first second.
    package let chains: [Chain]
    /// DER of the SubjectPublicKeyInfo of each backup key.
    package let keys: [[UInt8]]
    /// The recorded origins of announced keys, by the SHA-256 of each.
    package let origins: [Digest: Origin]

    package init(chains: [Chain], keys: [[UInt8]], origins: [Digest: Origin] = [:]) {
        self.chains = chains
        self.keys = keys
        self.origins = origins
    }

    /// The number of announcements.
    package var count: Int { chains.count + keys.count }

    /// The announcements without chains whose leaf certificate has expired.
    package func lasting(at now: Int64) -> AnnouncedCertificates {
        let chains = chains.filter { next in
            next.chain.leaf.map { Int64($0.notAfter.timeIntervalSince1970) >= now } ?? true
        }
        return AnnouncedCertificates(chains: chains, keys: keys, origins: origins)
    }

    /// The bytes whose digest the audit records.
    package var bytes: [UInt8] {
        // An announcement without a recorded origin keeps the digest that it had before origins were recorded.
        var members: [String: CanonicalJSON] = [
            "chains": .array(
                chains.map { next in
                    var members: [String: CanonicalJSON] = [
                        "chain": .text("\(next.chain.digest)"), "begins": .integer(next.begins),
                    ]
                    if let origin = next.origin { members["origin"] = origin.json }
                    return .object(members)
                }),
            "keys": .array(keys.map { .text("\(Digest(of: $0))") }),
        ]
        let origins = Dictionary(uniqueKeysWithValues: self.origins.map { ("\($0)", $1.json) })
        if !origins.isEmpty { members["origins"] = .object(origins) }
        return CanonicalJSON.object(members).bytes
    }
}

extension AnnouncedCertificates {
    /// The digests of the certificates and keys that were announced.
    package var digests: Set<Digest> { Set(keys.map { Digest(of: $0) } + chains.flatMap { $0.chain.digestsOfLeaf }) }
}

extension AnnouncedCertificates.Origin {
    fileprivate var json: CanonicalJSON { .object(["by": .text(actor), "at": .integer(time)]) }
}
