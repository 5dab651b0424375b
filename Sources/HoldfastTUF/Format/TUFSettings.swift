/// Limits for what a repository may demand of its client. If an update exceeds a limit, it ends with an error; the
/// state that was trusted until then stays trusted.
public struct TUFSettings: Sendable, Hashable {
    /// A signature algorithm of metadata.
    public enum SignatureScheme: String, Sendable, Hashable, CaseIterable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA on P-256 with SHA-256.
        case ecdsaP256
        /// ECDSA on P-384 with SHA-384.
        case ecdsaP384
        /// RSA-PSS with SHA-256.
        case rsaPSS
        /// RSA with PKCS #1 v1.5 and SHA-256. The specification does not name it, but some repositories use it.
        case rsaPKCS1
    }

    /// Maximum number of newer root files that one update downloads (section 5.3.3). The next update continues from
    /// there.
    public var rootRotations: Int
    /// Maximum number of delegated roles that one search visits (section 5.6.7.1).
    public var delegations: Int
    /// Maximum size of a root file, in bytes.
    public var rootBytes: Int
    /// Maximum size of a timestamp file, in bytes.
    public var timestampBytes: Int
    /// Maximum size of a snapshot file, in bytes.
    public var snapshotBytes: Int
    /// Maximum size of a file of the targets role, or of a delegated role, in bytes.
    public var targetsBytes: Int
    /// Maximum size of a target, in bytes. A target is held in memory while it is downloaded.
    public var targetBytes: Int
    /// Maximum number of steps that one search may use to compare a target's name with the patterns of delegations.
    public var patternSteps: Int
    /// The accepted signature algorithms; by default all of them. Keys for other algorithms verify nothing.
    public var signatureSchemes = Set(SignatureScheme.allCases)

    /// Sets the limits; negative numbers are treated as 0. The defaults are lower than those of python-tuf.
    /// - Parameters:
    ///   - rootRotations: maximum number of newer root files in one update.
    ///   - delegations: maximum number of delegated roles in one search.
    ///   - rootBytes: maximum size of a root file, in bytes.
    ///   - timestampBytes: maximum size of a timestamp file, in bytes.
    ///   - snapshotBytes: maximum size of a snapshot file, in bytes.
    ///   - targetsBytes: maximum size of a file of the targets role or of a delegated role, in bytes.
    ///   - targetBytes: maximum size of a target, in bytes.
    ///   - patternSteps: maximum number of steps to compare names with patterns in one search.
    public init(
        rootRotations: Int = 64, delegations: Int = 16, rootBytes: Int = 128 << 10, timestampBytes: Int = 8 << 10,
        snapshotBytes: Int = 512 << 10, targetsBytes: Int = 1 << 20, targetBytes: Int = 8 << 20,
        patternSteps: Int = 10_000_000
    ) {
        self.rootRotations = max(0, rootRotations)
        self.delegations = max(0, delegations)
        self.rootBytes = max(0, rootBytes)
        self.timestampBytes = max(0, timestampBytes)
        self.snapshotBytes = max(0, snapshotBytes)
        self.targetsBytes = max(0, targetsBytes)
        self.targetBytes = max(0, targetBytes)
        self.patternSteps = max(0, patternSteps)
    }

    /// The limits of python-tuf 7, for repositories that rely on them. python-tuf does not limit targets; here a target
    /// has at most 1 GiB.
    public static let pythonTUF = TUFSettings(
        rootRotations: 256, delegations: 32, rootBytes: 512_000, timestampBytes: 16_384, snapshotBytes: 2_000_000,
        targetsBytes: 5_000_000, targetBytes: 1 << 30, patternSteps: 100_000_000)

    /// The longest name of a role or a target, in bytes.
    static let nameBytes = 1_024
    /// The longest key of a JSON object, in bytes. The longest keys in use are names of targets.
    static let keyBytes = 4_096
    /// Maximum number of keys of one role. The largest published roots have five.
    static let keysOfRole = 128
}
