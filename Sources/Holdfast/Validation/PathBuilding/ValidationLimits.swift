/// The budget of one validation: the maximum work that a hostile chain can cause. Beyond it, validation fails with
/// `budgetExceeded` or `chainTooLarge`.
///
/// The defaults for signatures and comparisons are those of rustls-webpki, chosen after reports of chains that were
/// made to keep verifiers busy; legitimate chains use a handful of each.
public struct ValidationLimits: Sendable, Hashable {
    /// The maximum number of intermediates between leaf and anchor, not counting self-issued ones (RFC 5280 6.1,
    /// max_path_length). The public web has one to three; eight leaves room for bridged authorities.
    public var intermediates = 8
    /// The maximum number of signatures that are verified.
    public var signatures = 100
    /// The maximum cost of all signatures together, where one with P-256, Ed25519 or RSA 2048 costs 1 (some 50
    /// microseconds), one with P-384 costs 14 and one with P-521 costs 24: enough for 17 with P-384, and at most a
    /// dozen milliseconds. Hashing 16 KiB of signed data costs 1 as well.
    public var signatureWork = 240
    /// The maximum cost of a decision, in thousandths of a signature of P-256 (some 50 nanoseconds): signatures,
    /// certificates and extensions read, names folded and compared, bytes hashed. 12 milliseconds at most.
    public var work = 250_000
    /// The maximum number of candidate issuers that are considered.
    public var steps = 1_000
    /// The maximum number of comparisons of names with constraints, and of policies with those that authorities
    /// require.
    public var nameConstraintComparisons = 250_000
    /// The maximum number of certificates that a peer may present. TLS stacks cap the message at about 100 kB, which is
    /// 128 small ones.
    public var presentedCertificates = 128
    /// The maximum size of all presented certificates together, in bytes.
    public var presentedBytes = 1 << 20

    /// The number of bytes that a processor without SHA instructions hashes in the time of one P-256 signature.
    static let bytesHashedForOne = 16_384

    /// The defaults.
    public init() {}

    /// Whether the budget is spent, so that nothing more can be verified.
    func areUsedUp(by effort: ValidationEffort) -> Bool {
        effort.work >= work || effort.signatures >= signatures || effort.signatureWork >= signatureWork
            || effort.steps >= steps
    }
}

/// The set of rules that a path must satisfy.
public enum ValidationProfile: String, Sendable, Hashable, CaseIterable {
    /// Every rule that is necessary for security; certificates of simple private authorities pass.
    case standard
    /// In addition, the certificate profile of RFC 5280 and of the web PKI, to check that your authority issues
    /// conforming certificates. It refuses some certificates that are safe to trust.
    case strict
}
