/// How much a repository may demand of its client. When an update exceeds a limit, it ends with an error and keeps what
/// was trusted.
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

    /// Root files that one update goes through (section 5.3.3). The next update continues from there.
    public var rootRotations: Int
    /// Delegated roles that one search visits (section 5.6.7.1).
    public var delegations: Int
    /// Bytes of a root file.
    public var rootBytes: Int
    /// Bytes of the timestamp file.
    public var timestampBytes: Int
    /// Bytes of the snapshot file.
    public var snapshotBytes: Int
    /// Bytes of the file of the targets role, and of each delegated role.
    public var targetsBytes: Int
    /// Bytes of a target, which is held in memory while it arrives.
    public var targetBytes: Int
    /// Steps of comparing a target's name with the patterns of delegations, in one search.
    public var patternSteps: Int
    /// The signatures that count; keys of other algorithms verify nothing. All by default.
    public var signatureSchemes = Set(SignatureScheme.allCases)

    /// Sets the limits; negative numbers count as 0. The defaults are lower than those of python-tuf.
    /// - Parameters:
    ///   - rootRotations: root files of one update.
    ///   - delegations: delegated roles of one search.
    ///   - rootBytes: of a root file.
    ///   - timestampBytes: of the timestamp file.
    ///   - snapshotBytes: of the snapshot file.
    ///   - targetsBytes: of a targets file.
    ///   - targetBytes: of a target.
    ///   - patternSteps: of one search.
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

    /// The limits of python-tuf 7, for repositories that were made for it; targets of at most 1 GiB, for which it has
    /// no limit.
    public static let pythonTUF = TUFSettings(
        rootRotations: 256, delegations: 32, rootBytes: 512_000, timestampBytes: 16_384, snapshotBytes: 2_000_000,
        targetsBytes: 5_000_000, targetBytes: 1 << 30, patternSteps: 100_000_000)

    /// Octets of a name of a role or a target.
    static let nameBytes = 1_024
    /// Octets of any key of an object; the longest are names of targets.
    static let keyBytes = 4_096
    /// Keys of one role. The largest published roots have five.
    static let keysOfRole = 128
}
