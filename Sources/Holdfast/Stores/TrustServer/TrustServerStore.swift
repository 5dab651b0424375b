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
/// ``TrustServerConfiguration/grace`` more it is still accepted, and every such use is reported. After that it is
/// refused. A download that does not verify, is older than ten minutes, or is older than the newest verified document,
/// changes nothing. Policies read a snapshot: they never wait for storage or the network.
public final class TrustServerStore: UpdatingStore {
    /// The configuration of the store.
    package let configuration: TrustServerConfiguration
    /// The engine that runs the store.
    public var engine: StoreEngine { StoreEngine(documents) }
    let documents: DocumentStore<TrustServerFormat>

    /// Makes a store from a valid configuration. It reads and verifies the stored document before it returns;
    /// ``load(configuration:clock:logger:)`` does so off the caller's thread.
    ///
    /// Several stores for one server, customer and signer download separately, so make one for all policies.
    /// - Parameters:
    ///   - configuration: the source of the document, its signer, and the rules for keeping it.
    ///   - clock: provides the time.
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

    /// Makes a store from a valid configuration, reading and verifying the stored document off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> TrustServerStore {
        // The task-local log is read here, because the queue does not inherit it.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try TrustServerStore(checking: configuration, clock: clock, logger: logger)
        }
    }

    /// The time at which the current document was made, according to its signer; nil if the store has none.
    public var timestamp: Date? { documents.snapshot.content?.signedTimestamp }
}
