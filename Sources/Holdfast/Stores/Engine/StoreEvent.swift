public import struct Foundation.Date
public import struct Foundation.URL

/// Something that happened in an ``UpdatingStore``. Observers get it, and the log a line about it.
///
/// ```swift
/// store.addObserver { event in
///     if case .updateFinished(let report) = event.kind, let error = report.error { alert(event.store, error) }
/// }
/// ```
public struct StoreEvent: Sendable {
    /// What happens in stores.
    public enum Kind: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// A new document is in use: its number of entries (pins, hosts, revoked certificates, logs), and when it was
        /// made, according to its signer, where the signer says so.
        case replaced(entries: Int, issuedAt: Date?)
        /// What was stored could not be read at first; now it could, and it is in use.
        case loaded
        /// The timestamp of a document is this far ahead of the clock. The document still counts, and moves the store's
        /// trusted time, but by a day at most: look at the device's clock and at the signer's.
        case issuedAheadOfClock(Duration)
        /// The signer's certificate has expired; documents are still verified. Configure its successor.
        case signerExpired(Date)
        /// A static list says which hosts need no pins. That part is not signed, so it is ignored.
        case unsignedDomainsConfigurationIgnored
        /// A host was trusted by a document in its grace period: how old a trust server's document is, or how long a
        /// pin file is past its `notAfter`.
        case usedInGrace(host: DialledHost, age: Duration)
        /// A ``CertStore`` has validated a certificate, for a common name or for a host.
        case validated(name: String, CertStore.ValidationResult)
        /// A certificate in a validated path, or one that was given, names this place for revocation lists.
        case placeFound
        /// Everything that was stored has been deleted.
        case reset
    }

    /// What happened.
    public let kind: Kind
    /// The ``UpdatingStore/name`` of the store.
    public let store: String
    /// Where the document comes from. It may contain secrets that the application has put there. nil for a reset of a
    /// store of several documents.
    public let url: URL?
    /// Whose certificates a revocation list is about; nil for documents of other kinds. Several authorities may publish
    /// lists at one URL.
    public let authority: X509Certificate?
    /// How often the document had been replaced or deleted by then.
    public let revision: UInt64

    init(_ kind: Kind, store: String, url: URL? = nil, authority: X509Certificate? = nil, revision: UInt64) {
        self.kind = kind
        self.store = store
        self.url = url
        self.authority = authority
        self.revision = revision
    }
}

/// Who wants to be told of events.
package typealias StoreObservers = Subscribers<@Sendable (StoreEvent) -> Void>
