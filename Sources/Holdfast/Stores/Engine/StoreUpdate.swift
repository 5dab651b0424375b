public import struct Foundation.Date

/// When a store makes an update.
public enum StoreUpdateMode: String, Sendable, Hashable, CaseIterable {
    /// When one is due.
    case `default`
    /// Always.
    case forced
}

/// How an update is made.
public enum StoreUpdateKind: String, Sendable, Hashable, CaseIterable {
    /// The caller waits for it: there is nothing usable, or it was forced.
    case direct
    /// In the background: the existing pins still count, and a renewal is due.
    case silent
    /// Not at all: no renewal is due.
    case noUpdate
}

/// The result of an update.
public struct StoreUpdateReport: Sendable {
    /// How it was made.
    public let kind: StoreUpdateKind
    /// Why it failed, or another problem; nil if there is none.
    public let error: StoreError?
    /// When it ended, by the store's clock.
    public let time: Date
    /// When the next update is due, or after a failure the next attempt.
    public let nextUpdate: Date
    /// The server's assessment of the application's version, if there is one.
    public let versionCheck: VersionCheck?
}
