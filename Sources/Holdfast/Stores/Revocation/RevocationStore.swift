import Dispatch
import Foundation
public import Logging

/// Fetches revocation lists, keeps them and renews them. Use it wherever a ``RevocationSource`` is expected.
///
/// ```swift
/// let store = try await RevocationStore.load(configuration: RevocationConfiguration())
/// let validator = PathValidator(anchors: anchors, revocation: store)
/// ```
/// It fetches the URLs that the configuration names for an authority, and the distribution points (RFC 5280 4.2.1.13)
/// of certificates that you give to it or that are in a path of a final decision. It fetches nothing for a certificate
/// that was only presented.
///
/// It verifies a list before storing it, and again when reading it. A list that does not verify, that covers none of
/// the certificates that name its URL, or that is older than the existing list of its scope, changes nothing. The store
/// keeps one list per URL and scope (RFC 5280 5.2.5).
///
/// A validation starts nothing and never waits for storage or the network: it uses the current lists. After its
/// decision is final, lists that are missing or due are fetched in the background. So the first connection to a server
/// is evaluated before its list arrives, by ``RevocationConfiguration/unknownLeaf``. ``prepare()`` waits.
///
/// This store does for every list the same as an ``UpdatingStore`` for its document. An update fails, after all lists
/// were tried, with the error of the first list (in the order of the URLs) that failed and that this run has needed.
/// The store's state is that of the list in the worst state. Events name their list by its URL and its authority.
public final class RevocationStore: RevocationSource, UpdatingStore, StoreDriver {
    typealias Documents = DocumentStore<RevocationListFormat>

    /// A certificate, its issuer, and the anchor of its path.
    struct Link: Hashable {
        let certificate: X509Certificate
        let issuer: X509Certificate
        let anchor: X509Certificate

        /// Called for every validation, so it hashes only the end of a signature, which identifies a certificate well
        /// enough.
        func hash(into hasher: inout Hasher) { hasher.combine(octets: certificate.der.suffix(64)) }
    }

    /// The places that a certificate names, empty if it names none, and the time at which a path last contained it.
    struct Naming {
        var places: [RevocationPlace.Key]
        var lastSeen: Date
    }

    struct Known {
        var places: [RevocationPlace.Key: RevocationPlace] = [:]
        /// Certificates whose distribution points were read.
        var links: [Link: Naming] = [:]
        /// Whether the findings of earlier runs have been read, and when the findings were last stored.
        var hasRestored = false
        var lastKept = Date.distantPast
        var current: Revocation
        /// Counts of snapshots, so that an earlier one never replaces a later one.
        var begun: UInt64 = 0
        var published: UInt64 = 0
        /// The time of the next check for due lists.
        var nextLook = Date.distantPast
        var hasSaidFull = false
        /// Whether a check for due lists is running, and whether another was requested in the meantime.
        var isLooking = false
        var looksAgain = false
    }

    /// The configuration of the store.
    package let configuration: RevocationConfiguration
    /// The engine that runs the store.
    public var engine: StoreEngine { StoreEngine(driver: self) }
    /// The clock that the store was given.
    public let clock: any WallClock

    let known: Lock<Known>
    let observers = StoreObservers()
    let watchers = Subscribers<@Sendable (()) -> Void>()
    let logger: Logger
    let storage = DispatchQueue(label: "holdfast.revocation")
    let room: RevocationRoom

    /// Makes a store; it reads and verifies the stored lists before it returns, which
    /// ``load(configuration:clock:logger:)`` does off the caller's thread. Nothing is downloaded yet.
    /// - Parameters:
    ///   - configuration: the places of the lists, their authorities, and the rules for keeping them.
    ///   - clock: provides the time.
    ///   - logger: gets updates that fail; nil for a logger labeled `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public init(
        configuration: RevocationConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(StoreError) {
        if let error = configuration.error { throw error }
        self.configuration = configuration
        self.clock = clock
        room = RevocationRoom(configuration.maximumTotalBytes)
        self.logger = logger ?? PolicyLog.shared.storeLogger
        known = Lock(
            Known(
                current: .crls(
                    [], certificates: configuration.certificates, unknownLeaf: configuration.unknownLeaf,
                    unknownIssuer: configuration.unknownIssuer)))
        let now = clock.now
        for authority in configuration.authorities {
            for url in authority.urls {
                guard let address = RevocationPlace.key(of: url) else { continue }
                let key = RevocationPlace.Key(address, of: authority.certificate)
                let own = RevocationAuthority(
                    issuer: authority.certificate, anchor: authority.anchor, certificates: .any)
                known.withLock { state in
                    guard state.places[key]?.authorities.add(own) == nil else { return }
                    state.places[key] = RevocationPlace(
                        url: url, isConfigured: true, authorities: RevocationAuthorities(own), lastSeen: now)
                }
            }
        }
        storage.sync { _ = restorePlaces() }
        // Reserve memory for stored lists before memory for growth; otherwise a restart could lose a list that has
        // grown.
        for documents in keys.compactMap(open) {
            if let lists = documents.snapshot.content { documents.format.room?.grow(lists.byteCount) }
        }
        publish()
    }

    /// Makes a store, reading and verifying the stored lists off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: RevocationConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> RevocationStore {
        // The task-local log is read here, because the queue does not inherit it.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try RevocationStore(configuration: configuration, clock: clock, logger: logger)
        }
    }

    // MARK: What the store knows

    /// The current lists.
    public var current: Revocation { known.withLock { $0.current } }

    /// The time between two checks for due lists, in seconds.
    static let lookInterval: TimeInterval = 60

    var name: String { RevocationListFormat.storeName }

    var revision: UInt64 { known.withLock { $0.published } }

    /// The clock's time. An authority that dates its lists in the future does not change it.
    var trustedTime: Date { clock.now }

    /// The state of the list in the worst state.
    var currentState: StoreState {
        let states = known.withLock { $0.places }.values.map { $0.documents?.currentState ?? .absent }
        return [.absent, .expired].first(where: states.contains) ?? (states.isEmpty ? .absent : .fresh)
    }

    /// The earliest next update of a list; never, as long as no place of a list is known.
    var nextUpdate: Date { lists.map(\.nextUpdate).min() ?? .distantFuture }

    var lastUpdate: StoreUpdateReport? { lists.compactMap(\.lastUpdate).max { $0.time < $1.time } }

    var storageError: StoreError? {
        known.withLock { $0.places }.sorted { $0.key.precedes($1.key) }
            .lazy.compactMap { $0.value.documents?.storageError }.first
    }

    /// Every place from which lists are fetched, with its list, in the order of their URLs.
    package var lists: [RevocationListStatus] { statuses(of: { _ in true }).map(\.status) }

    /// The places that these certificates name, if the certificates were in a path.
    package func lists(namedBy certificates: [X509Certificate]) -> [RevocationListStatus] {
        let named = known.withLock { state in
            Set(state.links.filter { certificates.contains($0.key.certificate) }.flatMap(\.value.places))
        }
        return statuses(of: named.contains).map(\.status)
    }

    func statuses(
        of isAsked: (RevocationPlace.Key) -> Bool
    ) -> [(key: RevocationPlace.Key, status: RevocationListStatus)] {
        let now = clock.now
        return known.withLock { $0.places }.filter { isAsked($0.key) }.sorted {
            $0.key.precedes($1.key)
        }
        .map { key, place in
            let documents = place.documents
            let snapshot = documents?.snapshot
            let status = RevocationListStatus(
                url: place.url, isConfigured: place.isConfigured, list: snapshot?.content?.main(at: now.wholeSeconds),
                isUsable: snapshot.flatMap { documents?.isUsable($0, now: now) } ?? false,
                lastUpdate: documents?.lastUpdate, nextUpdate: documents?.nextUpdate ?? now)
            return (key, status)
        }
    }

    var keys: [RevocationPlace.Key] { known.withLock { Array($0.places.keys) } }

    /// Opens the stored lists of a place, once. It blocks.
    /// - Returns: nil for a place that was removed to make room for another.
    func open(_ key: RevocationPlace.Key) -> Documents? {
        storage.sync {
            guard let place = known.withLock({ $0.places[key] }) else { return nil }
            if let documents = place.documents { return documents }
            let url = place.url
            let documents = Documents(
                format: RevocationListFormat(
                    key: key, url: url, authorities: place.authorities, configuration: configuration,
                    room: place.isConfigured ? nil : RevocationRoom.Share(of: room)),
                clock: clock, dataStore: configuration.secureDataStore, provider: configuration.remoteDataProvider,
                logger: logger, observers: observers, follow: { [weak self] in self?.follow($0) })
            return known.withLock { state in
                state.places[key]?.documents = documents
                return state.places[key] == nil ? nil : documents
            }
        }
    }

    private func follow(_ event: StoreEvent) {
        switch event.kind {
        case .updateFinished:
            if (event.report?.error?.underlying as? DocumentError)?.code == .tooLarge { makeRoom() }
        case .replaced, .loaded, .reset: publish()
        default: break
        }
    }

    /// Removes an unused place after a list did not fit into the memory, so that the next attempt may succeed.
    private func makeRoom() {
        let now = clock.now
        let evicted = known.withLock { $0.removeUnseen(at: now) }
        evicted?.documents?.format.room?.giveBack()
        evicted?.documents?.discard()
    }

    /// Makes one snapshot of all lists. It includes lists that are out of date: certificates that they revoke stay
    /// revoked.
    func publish() {
        let (number, places) = known.withLock { state in
            state.begun &+= 1
            return (state.begun, state.places)
        }
        let lists = places.sorted { $0.key.precedes($1.key) }.flatMap {
            $0.value.documents?.snapshot.content?.all ?? []
        }
        // This is outside the lock, because it hashes every list of the application.
        let revocation = Revocation.crls(
            configuration.lists + lists, certificates: configuration.certificates,
            unknownLeaf: configuration.unknownLeaf,
            unknownIssuer: configuration.unknownIssuer)
        let (old, isNew) = known.withLock { state -> (Revocation, Bool) in
            let old = state.current
            guard number > state.published else { return (old, false) }
            state.published = number
            state.current = revocation
            return (old, old.digest != revocation.digest)
        }
        withExtendedLifetime(old) {}
        if isNew { for watcher in watchers.all { watcher(()) } }
    }

    // MARK: Watching

    /// Yields an element after every change of ``current``.
    public func changes() -> AsyncStream<Void> { watchers.stream() }

    func tell(_ kind: StoreEvent.Kind, of url: URL? = nil, _ authority: X509Certificate? = nil) {
        var event = StoreEvent(kind)
        (event.store, event.url, event.authority, event.revision) = (name, url, authority, revision)
        for observer in observers.all { observer(event) }
    }
}
