import Dispatch
public import Logging

public import struct Foundation.Data
public import struct Foundation.Date

/// Keeps the pins that a signed document names: downloads it, verifies it, stores it, renews it before it expires, and
/// judges by it.
///
/// ```swift
/// let store = try await CertStore.load(configuration: configuration)
/// manager.add(policy: try store.trustPolicy(forHost: "www.example.com"))
/// try await store.update()
/// ```
/// The policy comes first: an update throws where there is no network, and the pins that are stored, or shipped as a
/// fallback, count all the same.
///
/// A new document replaces the old one; a document that does not verify changes nothing. What is stored is what was
/// signed, and is verified again when it is loaded. Validating reads a snapshot: it waits for no storage and no
/// network. Safe to use from any thread.
///
/// A static list is signed entry by entry. Whoever controls the server can serve entries that have been replaced since,
/// as long as they have not expired; with a challenge he cannot.
public final class CertStore: Sendable {
    /// What a certificate is worth by the store's pins.
    public enum ValidationResult: String, Sendable, Hashable, CaseIterable {
        /// A pin of the name is the certificate's.
        case trusted
        /// The name has pins, or is not one of the expected names, and the certificate is none of them.
        case untrusted
        /// The name has no usable pins. Not trusted either.
        case empty
    }

    /// What came of an update.
    public enum UpdateResult: String, Sendable, Hashable, CaseIterable {
        /// The store is up to date, or an update goes on in the background.
        case ok
        /// The document was downloaded and verified, but every entry in it has expired.
        case storeIsEmpty
        /// The document could not be downloaded.
        case networkError
        /// The document is not what it should be, or may not replace the one that is stored.
        case invalidData
        /// A signature does not verify.
        case invalidSignature
    }

    /// When an update is made.
    public enum UpdateMode: String, Sendable, Hashable, CaseIterable {
        /// When one is due.
        case `default`
        /// In any case.
        case forced
    }

    /// How the store was set up.
    public let configuration: CertStoreConfiguration
    /// What makes the store answer ``ValidationResult/empty``; nil where the configuration is sound.
    public let configurationError: CertStoreError?
    /// What was wrong with the stored document when the store was made; nil when it, or its absence, was fine.
    public var storageError: CertStoreError? { documents.storageError }
    /// What the time is, before what is known better; see ``trustedTime``.
    public let clock: any WallClock

    let documents: DocumentStore<CertStoreFormat>
    private let crypto: any CryptoProvider
    private let fallback: PinTable
    private let reporter: CertStoreReporter

    /// Makes a store; it reads and verifies what is stored before it returns, which `load(configuration:)` does off the
    /// caller's thread.
    ///
    /// A configuration that is in error makes a store that answers ``ValidationResult/empty`` and says why in
    /// ``configurationError``; ``init(checking:cryptoProvider:secureDataStore:remoteDataProvider:clock:logger:)`` throws it.
    /// - Parameters:
    ///   - configuration: what the store is to do.
    ///   - cryptoProvider: verifies signatures and makes random numbers.
    ///   - secureDataStore: keeps the document; nil for files in ``FileDataStore/defaultFolder``.
    ///   - remoteDataProvider: downloads the document; nil for a ``URLSessionDataProvider``.
    ///   - clock: what the time is.
    ///   - logger: told of updates that fail and of what is wrong with documents; nil for one labelled `holdfast.store`.
    public init(
        configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) {
        self.configuration = configuration
        self.clock = clock
        crypto = cryptoProvider
        var fallback = PinTable.empty
        var key: (any SignatureVerifying)?
        do throws(CertStoreError) {
            key = try configuration.key(for: cryptoProvider)
            fallback = try configuration.fallbackTable()
            try configuration.check()
            configurationError = nil
        } catch {
            key = nil
            fallback = .empty
            configurationError = error
        }
        self.fallback = fallback
        let logger = logger ?? PolicyLog.shared.storeLogger
        let reporter = CertStoreReporter(storeName: configuration.instanceIdentifier, logger: logger)
        self.reporter = reporter
        let format = CertStoreFormat(
            configuration: configuration, key: key, configurationError: configurationError, crypto: cryptoProvider)
        documents = DocumentStore(
            format: format, clock: clock, crypto: cryptoProvider, dataStore: secureDataStore ?? FileDataStore(),
            provider: remoteDataProvider ?? URLSessionDataProvider(), logger: logger, tell: { reporter.passOn($0) })
        if let configurationError { documents.say(of: configurationError) }
    }

    /// Makes a store of a sound configuration; otherwise like the published initialiser.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`.
    public convenience init(
        checking configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(CertStoreError) {
        self.init(
            configuration: configuration, cryptoProvider: cryptoProvider, secureDataStore: secureDataStore,
            remoteDataProvider: remoteDataProvider, clock: clock, logger: logger)
        if let configurationError { throw configurationError }
    }

    /// Makes a store of a sound configuration, reading and verifying what is stored off the caller's thread.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`.
    public static func load(
        configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(CertStoreError) -> CertStore {
        // The queue knows nothing of this task.
        let logger = logger ?? PolicyLog.shared.storeLogger
        let store = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: CertStore(
                        configuration: configuration, cryptoProvider: cryptoProvider,
                        secureDataStore: secureDataStore, remoteDataProvider: remoteDataProvider, clock: clock,
                        logger: logger))
            }
        }
        if let error = store.configurationError { throw error }
        return store
    }

    /// Tells the store from others of the application; see ``CertStoreConfiguration/instanceIdentifier``.
    public var identifier: String { configuration.instanceIdentifier }

    var snapshot: StoreSnapshot { StoreSnapshot(document: documents.snapshot, fallback: fallback) }

    // MARK: What the store knows

    /// The latest of the clock, the date of the build, and the newest issue time that was verified, which moves it no
    /// further than a day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// Entries that count now or did until they expired: those of the verified document, else the fallback entries.
    public var entryCount: Int { snapshot.table.count }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { documents.nextUpdate }

    /// What came of the last update, silent ones too; nil before the first.
    public var lastUpdate: CertStoreUpdateReport? { documents.lastUpdate }

    // MARK: Validation

    /// Judges a certificate by its fingerprint.
    /// - Parameters:
    ///   - commonName: the name as the document has it, a wildcard as a literal text.
    ///   - fingerprint: SHA-256 of the certificate's DER, 32 octets.
    public func validate(commonName: String, fingerprint: Data) -> ValidationResult {
        let result = judge(commonName: commonName, fingerprint: fingerprint)
        tell(.validated(name: commonName, result))
        if result == .untrusted { updateAfterMismatch() }
        return result
    }

    /// Judges a certificate.
    /// - Parameters:
    ///   - commonName: the name as the document has it, a wildcard as a literal text.
    ///   - certificateData: DER.
    public func validate(commonName: String, certificateData: Data) -> ValidationResult {
        validate(commonName: commonName, fingerprint: crypto.hashSha256(data: certificateData))
    }

    private func judge(commonName: String, fingerprint: Data) -> ValidationResult {
        guard configuration.expects(commonName) else { return .untrusted }
        let snapshot = snapshot
        let time = PathValidator.wholeSeconds(snapshot.trustedTime.time(clock: clock.now))
        return snapshot.result(name: commonName, fingerprint: fingerprint, at: time)
    }

    // MARK: Watching

    /// What ends an observation.
    public struct ObserverToken: Sendable, Hashable {
        fileprivate let value: UInt64
    }

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (CertStoreEvent) -> Void) -> ObserverToken {
        ObserverToken(value: reporter.observers.add(observer))
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { reporter.observers.remove(token.value) }

    /// Everything that happens from now on, for as many listeners as one likes, each with a stream of its own. Of what
    /// a listener does not listen to, the latest 256 events are kept.
    public func events() -> AsyncStream<CertStoreEvent> { reporter.observers.stream() }

    func tell(_ event: CertStoreEvent) { reporter.tell(event) }
}
