public import struct Foundation.Date
public import struct Foundation.URL

/// Something that happened in an ``UpdatingStore``. Observers receive it, and the log gets a line about it.
///
/// ```swift
/// store.addObserver { event in
///     if let error = event.report?.error { alert(event.store, error) }
/// }
/// ```
public struct StoreEvent: Sendable {
    /// What happens in stores, a set that may grow.
    public typealias Kind = OpenCode<StoreEvent>

    /// What happened.
    public let kind: Kind
    /// What kind of update begins, or has ended.
    public let updateKind: StoreUpdateKind?
    /// The result of an update that has ended.
    public let report: StoreUpdateReport?
    /// How many entries a new document has: pins, hosts, revoked certificates, logs.
    public let entries: Int?
    /// When a new document was made, if its signer says so; or when a signer's certificate expired.
    public let date: Date?
    /// How far a document is ahead of the clock, or how old one is that was used in its grace period.
    public let span: Duration?
    /// The host or the common name that was trusted or validated.
    public let name: String?
    /// What a ``CertStore`` found about a certificate.
    public let result: CertStore.ValidationResult?
    /// The ``UpdatingStore/name`` of the store.
    public internal(set) var store = ""
    /// Where the document comes from. It may contain secrets that the application has put there. nil for a reset of a
    /// store of several documents.
    public internal(set) var url: URL?
    /// The authority whose certificates a revocation list covers; nil for documents of other kinds. Several authorities may publish
    /// lists at one URL.
    public internal(set) var authority: X509Certificate?
    /// How often the document had been replaced or deleted at that time.
    public internal(set) var revision: UInt64 = 0

    package init(
        _ kind: Kind, updateKind: StoreUpdateKind? = nil, report: StoreUpdateReport? = nil, entries: Int? = nil,
        date: Date? = nil, span: Duration? = nil, name: String? = nil, result: CertStore.ValidationResult? = nil
    ) {
        self.kind = kind
        self.updateKind = updateKind ?? report?.kind
        self.report = report
        self.entries = entries
        self.date = date
        self.span = span
        self.name = name
        self.result = result
    }
}

extension StoreEvent.Kind {
    /// An update begins, of ``StoreEvent/updateKind``.
    public static var updateStarted: Self { Self() }
    /// An update has ended; see ``StoreEvent/report``.
    public static var updateFinished: Self { Self() }
    /// A new document is in use; see ``StoreEvent/entries`` and ``StoreEvent/date``.
    public static var replaced: Self { Self() }
    /// The stored document could not be read at first, but now it is in use.
    public static var loaded: Self { Self() }
    /// The timestamp of a document is ahead of the clock, by ``StoreEvent/span``. The document still counts, and moves
    /// the store's trusted time, but by a day at most: check the device's clock and the signer's.
    public static var issuedAheadOfClock: Self { Self() }
    /// The signer's certificate has expired, at ``StoreEvent/date``; documents are still verified. Configure its
    /// successor.
    public static var signerExpired: Self { Self() }
    /// A static list says which hosts need no pins. That part is not signed, so it is ignored.
    public static var unsignedDomainsConfigurationIgnored: Self { Self() }
    /// A host (``StoreEvent/name``) was trusted by a document in its grace period. ``StoreEvent/span`` is how old a trust
    /// server's document is, or how long a pin file is past its `notAfter`.
    public static var usedInGrace: Self { Self() }
    /// A ``CertStore`` has validated a certificate, for a common name or for a host (``StoreEvent/name``).
    public static var validated: Self { Self() }
    /// A certificate in a validated path, or one that the application gave, names this place for revocation lists.
    public static var placeFound: Self { Self() }
    /// Everything that was stored has been deleted.
    public static var reset: Self { Self() }
}

/// The observers of a store's events.
package typealias StoreObservers = Subscribers<@Sendable (StoreEvent) -> Void>
