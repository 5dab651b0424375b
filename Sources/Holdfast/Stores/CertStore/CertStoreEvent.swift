public import struct Foundation.Date
public import struct Foundation.TimeInterval

/// How an update is made.
public enum CertStoreUpdateKind: String, Sendable, Hashable, CaseIterable {
    /// The caller waits for it: there is nothing usable, or it was forced.
    case direct
    /// In the background: the pins there are still count, and a renewal is due.
    case silent
    /// Not at all: no renewal is due.
    case noUpdate
}

/// What came of an update.
public struct CertStoreUpdateReport: Sendable {
    /// How it was made.
    public let kind: CertStoreUpdateKind
    /// The published result.
    public let result: CertStore.UpdateResult
    /// Why it failed, or what else is to be said; nil when all is well.
    public let error: CertStoreError?
    /// When it ended, by the store's clock.
    public let time: Date
    /// When the next update is due, or after a failure the next attempt.
    public let nextUpdate: Date
    /// What the server thinks of the application's version, where it said so.
    public let versionCheck: ChallengeResponse.VersionCheck?
}

/// What happens in a ``CertStore``.
public enum CertStoreEvent: Sendable {
    /// An update begins.
    case updateStarted(CertStoreUpdateKind)
    /// An update has ended.
    case updateFinished(CertStoreUpdateReport)
    /// The pins were replaced; so many entries count now.
    case pinsReplaced(entries: Int)
    /// A document was made so many seconds after what the clock says. It counts all the same, and moves
    /// ``CertStore/trustedTime``, but by a day at most: look at the device's clock and at the signer's.
    case issuedAheadOfClock(TimeInterval)
    /// A static list says which hosts need no pins; nobody signed that, and it is not followed.
    case unsignedDomainsConfigurationIgnored
    /// A certificate was validated, for a common name or for a host.
    case validated(name: String, CertStore.ValidationResult)
    /// The store was emptied.
    case reset
}
