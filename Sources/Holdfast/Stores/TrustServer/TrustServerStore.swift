import Dispatch
public import Foundation
public import Logging

/// Keeps the document of a trust server for one customer: downloads, verifies, stores and renews it, and gives its pins
/// to policies.
///
/// ```swift
/// let store = try await TrustServerStore.load(configuration: configuration)
/// manager.add(policy: try store.policy(for: "www.example.com", pinning: .publicKey))
/// ```
/// A document is fresh for ``TrustServerConfiguration/maximumAge`` after its timestamp; then it is renewed. For
/// ``TrustServerConfiguration/grace`` more it is still accepted, and every such use is reported. After that it is refused.
/// A download that does not verify, is older than ten minutes, or older than the newest document that was verified,
/// changes nothing. Policies read a snapshot: they never wait for storage or the network.
public final class TrustServerStore: UpdatingStore {
    /// How the store was set up.
    package let configuration: TrustServerConfiguration
    /// The machinery that runs the store.
    public var engine: StoreEngine { StoreEngine(documents) }
    let documents: DocumentStore<TrustServerFormat>

    /// Makes a store from a valid configuration; it reads and verifies what is stored before it returns, which
    /// ``load(configuration:clock:logger:)`` does off the caller's thread.
    ///
    /// Several stores for one server, customer and signer download separately, so make one for all policies.
    /// - Parameters:
    ///   - configuration: where the document comes from, who signs it, and how it is kept.
    ///   - clock: tells the time.
    ///   - logger: gets updates that fail and documents in their grace period; nil for a logger labeled
    ///     `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public init(
        checking configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        if let error = configuration.error { throw error }
        self.configuration = configuration
        documents = DocumentStore(
            format: TrustServerFormat(configuration: configuration), clock: clock,
            dataStore: configuration.secureDataStore, provider: configuration.remoteDataProvider,
            logger: logger ?? PolicyLog.shared.storeLogger)
    }

    /// Makes a store from a valid configuration, reading and verifying what is stored off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> TrustServerStore {
        // The queue knows nothing of this task.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try TrustServerStore(checking: configuration, clock: clock, logger: logger)
        }
    }

    /// When the current document was made, according to its signer; nil while there is none.
    public var timestamp: Date? { documents.snapshot.content?.signedTimestamp }
}
