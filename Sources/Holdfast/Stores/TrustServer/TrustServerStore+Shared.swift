public import Logging

public import struct Foundation.URL

extension TrustServerStore {
    /// The one store for a server, signer and customer: policies that are made with equal parameters share it, its
    /// downloads and its document.
    ///
    /// It lives as long as one of them holds it. Settings and clocks are parameters as well. Of an application's own
    /// sources, storages and clocks, one and the same object is equal to itself; a value shares with nobody.
    /// The logger is not compared: that of the first counts.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`.
    public static func shared(
        url: URL, signer: TrustServerSigner, customer: String,
        settings: OnlinePinningSettings = OnlinePinningSettings(),
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(CertStoreError) -> TrustServerStore {
        let make = { () throws(CertStoreError) in
            try TrustServerStore(
                url: url, signer: signer, customer: customer, settings: settings, clock: clock, logger: logger)
        }
        guard let key = StoreKey(url: url, signer: signer, customer: customer, settings: settings, clock: clock) else {
            return try make()
        }
        if let store = sharedStores.withLock({ $0[key]?.store }) { return store }
        // Reads the storage: not with the lock held. Of two that are made at once the first counts.
        let made = try make()
        // Looking at a store may leave the last reference to it here: it ends, with what the application gave it, after
        // the lock.
        let (store, _) = sharedStores.withLock { stores -> (TrustServerStore, [TrustServerStore]) in
            if let store = stores[key]?.store { return (store, []) }
            let living = stores.compactMapValues(\.store)
            stores = living.mapValues { WeakStore(store: $0) }
            stores[key] = WeakStore(store: made)
            return (made, Array(living.values))
        }
        return store
    }

    private static let sharedStores = Lock<[StoreKey: WeakStore]>([:])
}

private struct WeakStore: Sendable {
    weak var store: TrustServerStore?
}

/// What makes two stores one.
private struct StoreKey: Hashable, Sendable {
    private struct Part: Hashable, Sendable {
        let type: Swift.ObjectIdentifier
        var text = ""
        var object: Swift.ObjectIdentifier?
    }

    private let texts: [String]
    private let signer: [UInt8]
    private let limits: DocumentLimits
    private let parts: [Part]

    /// Nil where something in it cannot be compared.
    init?(
        url: URL, signer: TrustServerSigner, customer: String, settings: OnlinePinningSettings, clock: any WallClock
    ) {
        guard let provider = Self.part(settings.remoteDataProvider), let storage = Self.part(settings.secureDataStore),
            let clock = Self.part(clock)
        else { return nil }
        texts = [
            url.absoluteString, customer, "\(settings.maxAge)", "\(settings.grace)", "\(settings.preparationTimeout)",
            "\(settings.allowsLegacyDigests)", "\(settings.buildDate?.timeIntervalSince1970 ?? .nan)",
        ]
        self.signer = signer.identity
        limits = settings.limits
        parts = [provider, storage, clock]
    }

    private static func part<Value: Sendable>(_ value: Value) -> Part? {
        var part = Part(type: Swift.ObjectIdentifier(type(of: value)))
        if let source = value as? any IdentifiedSource {
            part.text = source.sourceIdentity
        } else if type(of: value) is AnyClass {
            part.object = Swift.ObjectIdentifier(value as AnyObject)
        } else {
            return nil
        }
        return part
    }
}
