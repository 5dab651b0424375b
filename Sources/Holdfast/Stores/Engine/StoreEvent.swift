public import struct Foundation.Date
public import struct Foundation.URL

/// Something that happened in an ``UpdatingStore``. Observers get it, and the log a line about it.
///
/// ```swift
/// store.addObserver { event in
///     if let error = event.report?.error { alert(event.store, error) }
/// }
/// ```
public struct StoreEvent: Sendable {
    /// What happens in stores, a set that may grow.
    public typealias Kind = OpenCode<StoreEvent>

    /// What happened, with its values.
    package enum Happening: Sendable {
        case updateStarted(StoreUpdateKind)
        case updateFinished(StoreUpdateReport)
        case replaced(entries: Int, issuedAt: Date?)
        case loaded
        case issuedAheadOfClock(Duration)
        case signerExpired(Date)
        case unsignedDomainsConfigurationIgnored
        case usedInGrace(host: DialedHost, age: Duration)
        case validated(name: String, CertStore.ValidationResult)
        case placeFound
        case reset
    }

    package let happening: Happening
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

    init(_ happening: Happening, store: String, url: URL? = nil, authority: X509Certificate? = nil, revision: UInt64) {
        self.happening = happening
        self.store = store
        self.url = url
        self.authority = authority
        self.revision = revision
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
    /// The timestamp of a document is ahead of the clock, by ``StoreEvent/span``. The document still counts, and moves the
    /// store's trusted time, but by a day at most: look at the device's clock and at the signer's.
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
    /// A certificate in a validated path, or one that was given, names this place for revocation lists.
    public static var placeFound: Self { Self() }
    /// Everything that was stored has been deleted.
    public static var reset: Self { Self() }
}

extension StoreEvent {
    /// What happened.
    public var kind: Kind {
        switch happening {
        case .updateStarted: .updateStarted
        case .updateFinished: .updateFinished
        case .replaced: .replaced
        case .loaded: .loaded
        case .issuedAheadOfClock: .issuedAheadOfClock
        case .signerExpired: .signerExpired
        case .unsignedDomainsConfigurationIgnored: .unsignedDomainsConfigurationIgnored
        case .usedInGrace: .usedInGrace
        case .validated: .validated
        case .placeFound: .placeFound
        case .reset: .reset
        }
    }

    /// What kind of update begins, or has ended.
    public var updateKind: StoreUpdateKind? {
        if case .updateStarted(let kind) = happening { kind } else { report?.kind }
    }

    /// What came of an update that has ended.
    public var report: StoreUpdateReport? { if case .updateFinished(let report) = happening { report } else { nil } }

    /// How many entries a new document has: pins, hosts, revoked certificates, logs.
    public var entries: Int? { if case .replaced(let entries, _) = happening { entries } else { nil } }

    /// When a new document was made, according to its signer, where the signer says so; when a signer's certificate
    /// expired.
    public var date: Date? {
        switch happening {
        case .replaced(_, let date): date
        case .signerExpired(let date): date
        default: nil
        }
    }

    /// How far a document is ahead of the clock, or how old one is that was used in its grace period.
    public var span: Duration? {
        switch happening {
        case .issuedAheadOfClock(let span), .usedInGrace(_, let span): span
        default: nil
        }
    }

    /// The host or the common name that was trusted or validated.
    public var name: String? {
        switch happening {
        case .usedInGrace(let host, _): host.name
        case .validated(let name, _): name
        default: nil
        }
    }

    /// What a ``CertStore`` found about a certificate.
    public var result: CertStore.ValidationResult? {
        if case .validated(_, let result) = happening { result } else { nil }
    }
}

/// Who wants to be told of events.
package typealias StoreObservers = Subscribers<@Sendable (StoreEvent) -> Void>
