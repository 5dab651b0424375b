import Foundation
import Holdfast

/// What the owner of a host announced: what it is about to show, and keys that stand ready.
public struct NextShown: Sendable, Hashable {
    /// A chain that is to be shown.
    public struct Chain: Sendable, Hashable {
        /// The chain.
        public let chain: HostChain
        /// The first second at which it may be shown, in seconds since 1970.
        public let begins: Int64

        /// Announces a chain.
        public init(_ chain: HostChain, from begins: Int64) {
            self.chain = chain
            self.begins = begins
        }
    }

    /// The chains, in the order of their beginning.
    public let chains: [Chain]
    /// DER of the SubjectPublicKeyInfo of each key that stands ready.
    public let keys: [[UInt8]]

    /// How many announcements there are.
    var count: Int { chains.count + keys.count }

    /// Without the chains whose own certificate has expired.
    func lasting(at now: Int64) -> NextShown {
        let chains = chains.filter { next in
            next.chain.leaf.map { Int64($0.notAfter.timeIntervalSince1970) >= now } ?? true
        }
        return NextShown(chains: chains, keys: keys)
    }

    /// What the audit has the digest of.
    var octets: [UInt8] {
        CanonicalJSON.object([
            "chains": .array(
                chains.map { .object(["chain": .text("\($0.chain.digest)"), "begins": .integer($0.begins)]) }),
            "keys": .array(keys.map { .text("\(Digest(of: $0))") }),
        ]).octets
    }
}
