import Foundation
public import Holdfast
public import Logging

extension TrustServerStore {
    /// The one store for a server, signer and customer. Policies that are made with equal parameters share it, its
    /// downloads and its document.
    ///
    /// It lives as long as one of them holds it. Clocks are parameters too. Your own sources, storages and clocks are
    /// equal only if they are the same object; a store with a value type of yours is never shared. Loggers are not
    /// compared: the first one is used.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public static func shared(
        configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(StoreError) -> TrustServerStore {
        let make = { () throws(StoreError) in
            try TrustServerStore(checking: configuration, clock: clock, logger: logger)
        }
        guard let key = StoreKey(configuration, clock) else {
            return try make()
        }
        if let store = sharedStores.withLock({ $0[key]?.store }) { return store }
        // This reads the storage, so it is outside the lock. If two stores are made at once, the first is used.
        let made = try make()
        // This may hold the last reference to a store, which is released outside the lock with the application's
        // objects.
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

/// The identity of a shared store.
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

    /// Nil if something in it cannot be compared.
    init?(_ configuration: TrustServerConfiguration, _ clock: any WallClock) {
        guard let provider = Self.part(configuration.remoteDataProvider),
            let storage = Self.part(configuration.secureDataStore),
            let clock = Self.part(clock)
        else { return nil }
        texts = [
            configuration.url.absoluteString, configuration.customer, "\(configuration.maximumAge)",
            "\(configuration.grace)",
            "\(configuration.preparationTimeout)",
            "\(configuration.updateTimeout)",
            "\(configuration.allowsLegacyDigests)", "\(configuration.buildDate?.timeIntervalSince1970 ?? .nan)",
        ]
        signer = configuration.signer.identity
        limits = configuration.limits
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

extension URLSessionDataProvider: IdentifiedSource {
    package var sourceIdentity: String { "\(answerLimit) \(wholeLimit) \(allowsPlainHTTPToLoopback)" }
}

extension FileDataStore: IdentifiedSource {
    package var sourceIdentity: String { "\(maximumBytes) \(folder.absoluteString)" }
}

extension SystemWallClock: IdentifiedSource {
    package var sourceIdentity: String { "" }
}
