import Dispatch
import Foundation
public import Logging

/// Keeps a log list: downloads it with its signature, verifies, stores and renews it, and passes it to validators.
///
/// ```swift
/// let store = try await TransparencyLogStore.load(configuration: configuration)
/// let validator = PathValidator(anchors: anchors, transparency: .required(store))
/// ```
/// Until a newer list has been downloaded, the list that ships with the application is used. A download that does not
/// verify, or is older than an existing list, changes nothing. A validation starts nothing and never waits for storage
/// or the network; after its decision is final, an update that is due begins in the background.
public final class TransparencyLogStore: UpdatingStore {
    /// The configuration of the store.
    package let configuration: TransparencyLogConfiguration
    /// The engine that runs the store.
    public var engine: StoreEngine { StoreEngine(documents) }
    let documents: DocumentStore<TransparencyLogFormat>

    /// Makes a store from a valid configuration. It reads and verifies the stored list before it returns;
    /// ``load(configuration:clock:logger:)`` does so off the caller's thread.
    /// - Parameters:
    ///   - configuration: the source of the list, its signer, and the rules for keeping it.
    ///   - clock: provides the time.
    ///   - logger: gets updates that fail; nil for a logger labeled `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public init(
        checking configuration: TransparencyLogConfiguration, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        if let error = configuration.error { throw error }
        self.configuration = configuration
        documents = DocumentStore(
            format: TransparencyLogFormat(configuration: configuration), clock: clock,
            dataStore: configuration.secureDataStore, provider: configuration.remoteDataProvider,
            logger: logger ?? PolicyLog.shared.storeLogger)
    }

    /// Makes a store from a valid configuration, reading and verifying the stored list off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: TransparencyLogConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> TransparencyLogStore {
        // The task-local log is read here, because the queue does not inherit it.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try TransparencyLogStore(checking: configuration, clock: clock, logger: logger)
        }
    }
}

extension TransparencyLogStore: TransparencyLogSource {
    /// The newest list: downloaded, or shipped with the application.
    public var current: TransparencyLogList {
        let shipped = configuration.shipped
        guard let list = documents.snapshot.content?.list, list.issuedAt >= shipped.issuedAt else { return shipped }
        return list
    }

    /// Starts an update in the background if one is due.
    public func noteUse() { documents.updateIfDue() }
}
