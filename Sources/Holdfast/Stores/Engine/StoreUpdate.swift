public import struct Foundation.Date

/// The condition for an update.
public enum StoreUpdateMode: String, Sendable, Hashable, CaseIterable {
    /// Only if one is due.
    case `default`
    /// Always.
    case forced
}

/// The kind of an update.
public enum StoreUpdateKind: String, Sendable, Hashable, CaseIterable {
    /// The caller waits for it: the store has no usable content, or the update was forced.
    case direct
    /// In the background: the existing pins are still valid, and a renewal is due.
    case silent
    /// No update: no renewal is due.
    case noUpdate
}

/// The result of an update.
public struct StoreUpdateReport: Sendable {
    /// The kind of update.
    public let kind: StoreUpdateKind
    /// The reason why it failed, or another problem; nil if all is well.
    public let error: StoreError?
    /// The time at which it ended, by the store's clock.
    public let time: Date
    /// The time at which the next update is due, or after a failure the next attempt.
    public let nextUpdate: Date
    /// The server's assessment of the application's version, if it sends one.
    public let versionCheck: VersionCheck?
}
