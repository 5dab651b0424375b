/// How much a repository may demand of its client. When an update exceeds a limit, it ends with an error; what was
/// trusted until then stays trusted.
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

    /// How many newer root files one update may download (section 5.3.3). The next update continues from there.
    public var rootRotations: Int
    /// How many delegated roles one search may visit (section 5.6.7.1).
    public var delegations: Int
    /// The largest root file, in bytes.
    public var rootBytes: Int
    /// The largest timestamp file, in bytes.
    public var timestampBytes: Int
    /// The largest snapshot file, in bytes.
    public var snapshotBytes: Int
    /// The largest file of the targets role, or of a delegated role, in bytes.
    public var targetsBytes: Int
    /// The largest target, in bytes. A target is held in memory while it is downloaded.
    public var targetBytes: Int
    /// How many steps one search may spend on comparing a target's name with the patterns of delegations.
    public var patternSteps: Int
    /// The signature algorithms that count; by default all of them. Keys for other algorithms verify nothing.
    public var signatureSchemes = Set(SignatureScheme.allCases)

    /// Sets the limits; negative numbers count as 0. The defaults are lower than those of python-tuf.
    /// - Parameters:
    ///   - rootRotations: how many newer root files one update may download.
    ///   - delegations: how many delegated roles one search may visit.
    ///   - rootBytes: the largest root file, in bytes.
    ///   - timestampBytes: the largest timestamp file, in bytes.
    ///   - snapshotBytes: the largest snapshot file, in bytes.
    ///   - targetsBytes: the largest file of the targets role or of a delegated role, in bytes.
    ///   - targetBytes: the largest target, in bytes.
    ///   - patternSteps: how many steps one search may spend on comparing names with patterns.
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

    /// The longest name of a role or a target, in octets.
    static let nameBytes = 1_024
    /// The longest key of a JSON object, in octets. The longest keys in use are names of targets.
    static let keyBytes = 4_096
    /// How many keys one role may have. The largest published roots have five.
    static let keysOfRole = 128
}
