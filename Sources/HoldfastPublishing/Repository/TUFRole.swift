public import HoldfastSigning

/// A top-level role of a repository of The Update Framework (specification 1.0.34, section 2.1).
public enum TUFRole: String, Sendable, Hashable, CaseIterable, Codable {
    /// Says which keys sign the roles, itself included. Its keys are offline.
    case root
    /// Says which pin file is the newest. Its keys are offline.
    case targets
    /// Says which version of the targets role is the newest.
    case snapshot
    /// Says which snapshot is the newest, and that somebody still maintains the repository.
    case timestamp

    /// Whether its key is on the machine that publishes, where it signs without a person, every day or so.
    public var isOnline: Bool { self == .snapshot || self == .timestamp }
}

/// The keys of a role, and how many of them have to sign.
public struct TUFRoleKeys: Sendable, Hashable {
    /// The keys; each of them once.
    public var keys: [TUFPublicKey]
    /// How many of them have to sign.
    public var threshold: Int

    /// Makes the keys of a role.
    public init(_ keys: [TUFPublicKey], threshold: Int = 1) {
        self.keys = keys
        self.threshold = threshold
    }
}
