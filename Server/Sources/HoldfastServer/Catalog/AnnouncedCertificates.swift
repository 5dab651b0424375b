import Foundation
import Holdfast

/// What the owner of a host announced: what it is about to show, and keys that stand ready.
public struct AnnouncedCertificates: Sendable, Hashable {
    /// The person or token that announced something, and the time.
    public struct Origin: Sendable, Hashable {
        /// Such as `token NAME`, as the audit names it.
        public let actor: String
        /// In seconds since 1970.
        public let time: Int64
    }

    /// A chain that is to be shown.
    public struct Chain: Sendable, Hashable {
        /// The chain.
        public let chain: CertificateChain
        /// The first second at which it may be shown, in seconds since 1970.
        public let begins: Int64
        /// The person or token that announced it; nil if that was not recorded.
        public let origin: Origin?

        /// Announces a chain.
        public init(_ chain: CertificateChain, from begins: Int64, origin: Origin? = nil) {
            self.chain = chain
            self.begins = begins
            self.origin = origin
        }
    }

    /// The chains, in the order of their beginning.
    public let chains: [Chain]
    /// DER of the SubjectPublicKeyInfo of each key that stands ready.
    public let keys: [[UInt8]]
    /// The origins of announced keys, by the SHA-256 of each, as far as they were recorded.
    public let origins: [Digest: Origin]

    init(chains: [Chain], keys: [[UInt8]], origins: [Digest: Origin] = [:]) {
        self.chains = chains
        self.keys = keys
        self.origins = origins
    }

    /// How many announcements there are.
    var count: Int { chains.count + keys.count }

    /// Without the chains whose own certificate has expired.
    func lasting(at now: Int64) -> AnnouncedCertificates {
        let chains = chains.filter { next in
            next.chain.leaf.map { Int64($0.notAfter.timeIntervalSince1970) >= now } ?? true
        }
        return AnnouncedCertificates(chains: chains, keys: keys, origins: origins)
    }

    /// What the audit has the digest of.
    var bytes: [UInt8] {
        // An announcement without a recorded origin keeps its digest.
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
    var digests: Set<Digest> { Set(keys.map { Digest(of: $0) } + chains.flatMap { $0.chain.digestsOfLeaf }) }
}

extension AnnouncedCertificates.Origin {
    fileprivate var json: CanonicalJSON { .object(["by": .text(actor), "at": .integer(time)]) }
}
