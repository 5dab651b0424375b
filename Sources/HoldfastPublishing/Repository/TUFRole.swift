public import HoldfastSigning

/// A top-level role of a repository of The Update Framework (specification 1.0.34, section 2.1).
public enum TUFRole: String, Sendable, Hashable, CaseIterable, Codable {
    /// Specifies the keys that sign the roles, including its own. Its keys are offline.
    case root
    /// Specifies the newest pin file. Its keys are offline.
    case targets
    /// Specifies the newest version of the targets role.
    case snapshot
    /// Specifies the newest snapshot, and shows that the repository is still maintained.
    case timestamp

    /// Whether its key is on the machine that publishes, which signs with it automatically, about once a day.
    public var isOnline: Bool { self == .snapshot || self == .timestamp }
}

/// The keys of a role, and the number of them that must sign.
public struct TUFRoleKeys: Sendable, Hashable {
    /// The keys; each of them once.
    public var keys: [TUFPublicKey]
    /// The number of keys that must sign.
    public var threshold: Int

    /// Makes the keys of a role.
    public init(_ keys: [TUFPublicKey], threshold: Int = 1) {
        self.keys = keys
        self.threshold = threshold
    }
}
