import Dispatch
public import Logging

package import struct Foundation.Data

/// Keeps the pins of a signed document: downloads, verifies and stores it, renews it before it expires, and evaluates
/// servers with it.
///
/// ```swift
/// let store = try await CertStore.load(configuration: configuration)
/// manager.add(policy: try store.policy(for: "www.example.com"))
/// try await store.update()
/// ```
/// Add the policy first: without a network the update throws, but the pins that are stored, or shipped as a fallback,
/// are still valid.
///
/// A new document replaces the old one; a document that does not verify changes nothing. The store keeps documents as
/// they were signed, and verifies them again when it loads them. Validating reads a snapshot: it never waits for
/// storage or the network.
///
/// A static list is signed entry by entry. An attacker who controls the server can serve entries that have since been
/// replaced, as long as they have not expired. A challenge prevents that.
public final class CertStore: UpdatingStore {
    /// The verdict on a certificate by the store's pins.
    public enum ValidationResult: String, Sendable, Hashable, CaseIterable {
        /// The certificate has a pin of the name.
        case trusted
        /// The name has pins and the certificate matches none of them, or the name is not an expected one.
        case untrusted
        /// The name has no usable pins, so the certificate is not trusted either.
        case empty
    }

    /// The configuration of the store.
    public let configuration: CertStoreConfiguration
    /// The reason why the store answers ``ValidationResult/empty``; nil if the configuration is valid.
    public var configurationError: StoreError? { documents.format.configurationError }
    /// The engine that runs the store.
    public var engine: StoreEngine { StoreEngine(documents) }

    let documents: DocumentStore<CertStoreFormat>
    package let crypto: StoreCryptography
    private let fallback: PinTable
    private let hasWarnedOfHost = Lock(false)

    /// Makes a store from a valid configuration. It reads and verifies the stored document before it returns;
    /// ``load(configuration:secureDataStore:remoteDataProvider:clock:logger:)`` does so off the caller's thread.
    /// - Parameters:
    ///   - configuration: the source of the document, its signer, and the rules for keeping it.
    ///   - secureDataStore: keeps the document; nil for files in ``FileDataStore/defaultFolder``.
    ///   - remoteDataProvider: downloads the document; nil for a ``URLSessionDataProvider``.
    ///   - clock: provides the time.
    ///   - logger: gets updates that fail and problems with documents; nil for a logger labeled `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public convenience init(
        checking configuration: CertStoreConfiguration, secureDataStore: (any SecureDataStore)? = nil,
        remoteDataProvider: (any RemoteDataProvider)? = nil, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        self.init(
            unchecked: configuration, dataStore: secureDataStore, provider: remoteDataProvider, clock: clock,
            logger: logger)
        if let configurationError { throw configurationError }
    }

    /// Makes a store from a valid configuration, reading and verifying the stored document off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: CertStoreConfiguration, secureDataStore: (any SecureDataStore)? = nil,
        remoteDataProvider: (any RemoteDataProvider)? = nil, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) async throws(StoreError) -> CertStore {
        // The task-local log is read here, because the queue does not inherit it.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try CertStore(
                checking: configuration, secureDataStore: secureDataStore, remoteDataProvider: remoteDataProvider,
                clock: clock, logger: logger)
        }
    }

    /// Makes a store. If the configuration is invalid, the store is empty and states the reason in
    /// ``configurationError``.
    package init(
        unchecked configuration: CertStoreConfiguration, crypto: StoreCryptography = .standard,
        dataStore: (any SecureDataStore)?, provider: (any RemoteDataProvider)?, clock: any WallClock, logger: Logger?,
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.configuration = configuration
        self.crypto = crypto
        var fallback = PinTable.empty
        var key: (any SignatureVerifying)?
        var configurationError: StoreError?
        do throws(StoreError) {
            key = try configuration.key(for: crypto)
            fallback = try configuration.fallbackTable()
            try configuration.check()
        } catch {
            key = nil
            fallback = .empty
            configurationError = error
        }
        self.fallback = fallback
        let format = CertStoreFormat(
            configuration: configuration, key: key, configurationError: configurationError, crypto: crypto)
        documents = DocumentStore(
            format: format, clock: clock, crypto: crypto, dataStore: dataStore ?? FileDataStore(),
            provider: provider ?? URLSessionDataProvider(), logger: logger ?? PolicyLog.shared.storeLogger,
            timer: timer)
    }

    /// Begins an update, for callers with a completion handler.
    package func begin(_ mode: StoreUpdateMode) -> (StoreUpdateKind, Task<StoreUpdateReport, Never>?) {
        documents.begin(mode)
    }

    var snapshot: StoreSnapshot { StoreSnapshot(document: documents.snapshot, fallback: fallback) }

    /// The entries in use, expired or not: those of the verified document, otherwise the fallback entries.
    public var entryCount: Int { snapshot.table.count }

    /// Evaluates a certificate by the SHA-256 of its DER, a name as in the document, and its place in the chain.
    package func judge(_ fingerprint: Data, named name: String, depth: Int) -> ValidationResult {
        let result = result(of: fingerprint, named: name, depth: depth)
        documents.tell(StoreEvent(.validated, name: name, result: result))
        switch result {
        case .trusted: break
        case .untrusted: updateIfAsked(by: [.mismatch(.enforce)])
        case .empty: updateIfAsked(by: [.noPins(snapshot.absence(ofName: name))])
        }
        return result
    }

    private func result(of fingerprint: Data, named name: String, depth: Int) -> ValidationResult {
        guard configuration.expects(name) else { return .untrusted }
        let snapshot = snapshot
        let time = snapshot.trustedTime.time(clock: clock.now)
        return snapshot.result(name: name, fingerprint: fingerprint, depth: depth, at: time)
    }

    /// Warns if the store evaluates the host from which its document comes. The download does not use the document's
    /// pins, so an attacker may intercept it, and its connection or TLS session may be reused for the host without
    /// another decision.
    func note(_ host: HostPattern) {
        guard let service = try? DialedHost(url: configuration.serviceURL), host.matches(service),
            hasWarnedOfHost.withLock({ $0.setFirst() })
        else { return }
        documents.write(
            .notice, "the document is downloaded from a host that it pins: serve it from another domain",
            ["host": service.name])
    }
}
