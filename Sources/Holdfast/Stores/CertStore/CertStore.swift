import Dispatch
public import Logging

public import struct Foundation.Data
public import struct Foundation.Date

/// Keeps the pins of a signed document: downloads it, verifies it, stores it, renews it before it expires, and
/// evaluates servers by it.
///
/// ```swift
/// let store = try await CertStore.load(configuration: configuration)
/// manager.add(policy: try store.trustPolicy(forHost: "www.example.com"))
/// try await store.update()
/// ```
/// Add the policy first: without a network the update throws, but the pins that are stored, or shipped as a fallback,
/// still count.
///
/// A new document replaces the old one; a document that does not verify changes nothing. What is stored is what was
/// signed, and is verified again when it is loaded. Validating reads a snapshot: it never waits for storage or the
/// network.
///
/// A static list is signed entry by entry. An attacker who controls the server can serve entries that have since been
/// replaced, as long as they have not expired. With a challenge that is impossible.
public final class CertStore: Sendable {
    /// The verdict on a certificate by the store's pins.
    public enum ValidationResult: String, Sendable, Hashable, CaseIterable {
        /// The certificate has a pin of the name.
        case trusted
        /// The name has pins and the certificate matches none of them, or the name is not an expected one.
        case untrusted
        /// The name has no usable pins, so the certificate is not trusted either.
        case empty
    }

    /// What happens in a store.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// The pins were replaced; so many entries count now.
        case pinsReplaced(entries: Int)
        /// The timestamp of a document is this far ahead of the clock. The document still counts, and moves
        /// ``CertStore/trustedTime``, but by a day at most: look at the device's clock and at the signer's.
        case issuedAheadOfClock(Duration)
        /// A static list says which hosts need no pins. That part is not signed, so it is ignored.
        case unsignedDomainsConfigurationIgnored
        /// A certificate was validated, for a common name or for a host.
        case validated(name: String, ValidationResult)
        /// The store was emptied.
        case reset
    }

    /// How the store was set up.
    public let configuration: CertStoreConfiguration
    /// What makes the store answer ``ValidationResult/empty``; nil where the configuration is sound.
    public let configurationError: StoreError?
    /// What was wrong with the stored document when the store was made; nil when it, or its absence, was fine.
    public var storageError: StoreError? { documents.storageError }
    /// The clock; ``trustedTime`` corrects it.
    public let clock: any WallClock

    let documents: DocumentStore<CertStoreFormat>
    let crypto: any CryptoProvider
    private let fallback: PinTable
    private let reporter: CertStoreReporter

    /// Makes a store from a valid configuration; it reads and verifies what is stored before it returns, which
    /// ``load(configuration:cryptoProvider:secureDataStore:remoteDataProvider:clock:logger:)`` does off the caller's
    /// thread.
    /// - Parameters:
    ///   - configuration: where the document comes from, who signs it, and how it is kept.
    ///   - cryptoProvider: verifies signatures and makes random numbers.
    ///   - secureDataStore: keeps the document; nil for files in ``FileDataStore/defaultFolder``.
    ///   - remoteDataProvider: downloads the document; nil for a ``URLSessionDataProvider``.
    ///   - clock: what the time is.
    ///   - logger: told of updates that fail and of what is wrong with documents; nil for one labelled `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public convenience init(
        checking configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(StoreError) {
        self.init(
            unchecked: configuration, crypto: cryptoProvider, dataStore: secureDataStore, provider: remoteDataProvider,
            clock: clock, logger: logger)
        if let configurationError { throw configurationError }
    }

    /// Makes a store from a valid configuration, reading and verifying what is stored off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> CertStore {
        // The queue knows nothing of this task.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try CertStore(
                checking: configuration, cryptoProvider: cryptoProvider, secureDataStore: secureDataStore,
                remoteDataProvider: remoteDataProvider, clock: clock, logger: logger)
        }
    }

    /// A configuration in error makes a store that is empty and says why in ``configurationError``.
    init(
        unchecked configuration: CertStoreConfiguration, crypto: any CryptoProvider,
        dataStore: (any SecureDataStore)?, provider: (any RemoteDataProvider)?, clock: any WallClock, logger: Logger?,
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.configuration = configuration
        self.clock = clock
        self.crypto = crypto
        var fallback = PinTable.empty
        var key: (any SignatureVerifying)?
        do throws(StoreError) {
            key = try configuration.key(for: crypto)
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
        let reporter = CertStoreReporter(configuration, logger: logger)
        self.reporter = reporter
        let format = CertStoreFormat(
            configuration: configuration, key: key, configurationError: configurationError, crypto: crypto)
        documents = DocumentStore(
            format: format, clock: clock, crypto: crypto, dataStore: dataStore ?? FileDataStore(),
            provider: provider ?? URLSessionDataProvider(), logger: logger, timer: timer,
            tell: { reporter.passOn($0) })
        if let configurationError { documents.say(of: configurationError) }
    }

    var snapshot: StoreSnapshot { StoreSnapshot(document: documents.snapshot, fallback: fallback) }

    // MARK: What the store knows

    /// The latest of the clock, the date of the build, and the newest issue time that was verified, which moves it no
    /// further than a day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// Entries that count now or did until they expired: those of the verified document, else the fallback entries.
    public var entryCount: Int { snapshot.table.count }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { documents.nextUpdate }

    /// The result of the last update, including silent ones; nil before the first.
    public var lastUpdate: StoreUpdateReport? { documents.lastUpdate }

    // MARK: Validation

    /// Judges a certificate by the SHA-256 of its DER, by a name as the document has it, and by its place in the chain.
    func judge(_ fingerprint: Data, named name: String, depth: Int) -> ValidationResult {
        let result = result(of: fingerprint, named: name, depth: depth)
        tell(.validated(name: name, result))
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

    // MARK: Watching

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        reporter.observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { reporter.observers.remove(token) }

    /// Everything that happens from now on, for as many listeners as one likes, each with a stream of its own. Of what
    /// a listener does not listen to, the latest 256 events are kept.
    public func events() -> AsyncStream<Event> { reporter.observers.stream() }

    func tell(_ event: Event) { reporter.tell(event) }

    /// Warns where the store is to judge the host that its document comes from.
    func note(_ host: HostPattern) { reporter.note(host) }
}
