/// The budget of one validation: the most work that a hostile chain can cause. Beyond it, validation fails with
/// `budgetExceeded` or `chainTooLarge`.
///
/// The defaults for signatures and comparisons are those of rustls-webpki, chosen after reports of chains that were
/// made to keep verifiers busy; legitimate chains use a handful of each.
public struct ValidationLimits: Sendable, Hashable {
    /// The most intermediates between leaf and anchor, not counting self-issued ones (RFC 5280 6.1, max_path_length).
    /// The public web has one to three; eight leaves room for bridged authorities.
    public var intermediates = 8
    /// Signatures verified.
    public var signatures = 100
    /// What the signatures may cost together, where one with P-256, Ed25519 or RSA 2048 costs 1 (some 50 microseconds),
    /// one with P-384 costs 14 and one with P-521 costs 24: enough for 17 with P-384, and at most a dozen milliseconds.
    /// Hashing 16 KiB of signed data costs 1 as well.
    public var signatureWork = 240
    /// Everything that a decision costs, in thousandths of a signature of P-256 (some 50 nanoseconds): signatures,
    /// certificates and extensions read, names folded and compared, octets hashed. 12 milliseconds at most.
    public var work = 250_000
    /// Candidate issuers considered.
    public var steps = 1_000
    /// Names compared with name constraints, and policies with those that authorities require.
    public var nameConstraintComparisons = 250_000
    /// Certificates that a peer may present. TLS stacks cap the message at about 100 kB, which is 128 small ones.
    public var presentedCertificates = 128
    /// Bytes of all presented certificates together.
    public var presentedBytes = 1 << 20

    /// The number of octets that a processor without SHA instructions hashes in the time of one P-256 signature.
    static let bytesHashedForOne = 16_384

    /// The defaults.
    public init() {}

    /// Whether nothing more can be verified.
    func areUsedUp(by effort: ValidationEffort) -> Bool {
        effort.work >= work || effort.signatures >= signatures || effort.signatureWork >= signatureWork
            || effort.steps >= steps
    }
}

/// Which rules a path must keep.
public enum ValidationProfile: String, Sendable, Hashable, CaseIterable {
    /// Every rule that keeps an attacker out; certificates of simple private authorities pass.
    case standard
    /// In addition, the certificate profile of RFC 5280 and of the web PKI, to check that your authority issues
    /// conforming certificates. It refuses some certificates that are safe to trust.
    case strict
}
