public import struct Foundation.Date
public import struct Foundation.URL

/// An event in an ``UpdatingStore``. Observers receive it, and the log gets a line about it.
///
/// ```swift
/// store.addObserver { event in
///     if let error = event.report?.error { alert(event.store, error) }
/// }
/// ```
public struct StoreEvent: Sendable {
    /// The kinds of events, a set that may grow.
    public typealias Kind = OpenCode<StoreEvent>

    /// The kind of event.
    public let kind: Kind
    /// The kind of update that begins or has ended.
    public let updateKind: StoreUpdateKind?
    /// The result of an update that has ended.
    public let report: StoreUpdateReport?
    /// The number of entries in a new document: pins, hosts, revoked certificates, logs.
    public let entries: Int?
    /// The time at which a new document was made, if its signer states it; or at which a signer's certificate expired.
    public let date: Date?
    /// The time by which a document is ahead of the clock, or the age of a document that was used in its grace period.
    public let span: Duration?
    /// The host or the common name that was trusted or validated.
    public let name: String?
    /// The result of a ``CertStore`` for a certificate.
    public let result: CertStore.ValidationResult?
    /// The ``UpdatingStore/name`` of the store.
    public internal(set) var store = ""
    /// The source of the document. It may contain secrets that the application has put there. nil for a reset of a
    /// store of several documents.
    public internal(set) var url: URL?
    /// The authority whose certificates a revocation list covers; nil for documents of other kinds. Several authorities
    /// may publish lists at one URL.
    public internal(set) var authority: X509Certificate?
    /// The number of times that the document had been replaced or deleted at that time.
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
    /// The timestamp of a document is ahead of the clock, by ``StoreEvent/span``. The document is still valid, and
    /// moves the store's trusted time, but by a day at most: check the device's clock and the signer's.
    public static var issuedAheadOfClock: Self { Self() }
    /// The signer's certificate has expired, at ``StoreEvent/date``; documents are still verified. Configure its
    /// successor.
    public static var signerExpired: Self { Self() }
    /// A static list states which hosts need no pins. That part is not signed, so it is ignored.
    public static var unsignedDomainsConfigurationIgnored: Self { Self() }
    /// A host (``StoreEvent/name``) was trusted by a document in its grace period. ``StoreEvent/span`` is the age of a
    /// trust server's document, or the time since the `notAfter` of a pin file.
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
