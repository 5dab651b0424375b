import Foundation
import Holdfast

/// The format of a ``PinRepository``: metadata of The Update Framework, and a pin file.
struct PinRepositoryFormat: DocumentFormat {
    let configuration: PinRepositoryConfiguration
    /// The pins that the app shipped with, verified.
    let shipped: VerifiedPins?

    private var settings: TUFSettings { configuration.metadataSettings }
    /// A state has at most two bundles.
    private var stateBytes: Int { 2 * configuration.maximumBundleBytes + 1_024 }

    /// The root is left out, because each build may ship a different one.
    var origin: [UInt8] {
        StoredRecord.origin(
            of: [Array("pin-repository".utf8), Array(configuration.target.utf8)]
                + configuration.source.urls.map { Array($0.absoluteString.utf8) })
    }
    var storageKey: String { "pin-repository-\(HexText.text(of: origin))" }
    var logName: String { "pins at \(configuration.source.urls.first?.absoluteString.quotedAddress ?? "")" }
    var storeName: String { "repository" }
    var documentURL: URL? { configuration.source.urls.first }
    var recordFormat: StoredRecord.Format { .repository }
    var buildDate: Date? { configuration.buildDate ?? shipped?.file.issuedAt }
    var longestInterval: TimeInterval {
        max(configuration.updateInterval.inSeconds, UpdateSchedule.shortestInterval)
    }
    var updateTimeout: Duration { configuration.updateTimeout }
    var preparationTimeout: Duration { configuration.preparationTimeout }
    var mismatchInterval: TimeInterval { configuration.mismatchInterval.inSeconds }

    // MARK: Updating

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<RepositoryState>
    ) async throws(StoreError) -> FetchedDocument<RepositoryState>? {
        // Section 5.1: every expiration is compared with the time at which the update begins.
        let start = FixedClock(now: current.time())
        let (source, entityTag) = try await source(from: provider, replacing: current)
        let old = current.content ?? RepositoryState(pins: nil, seen: RepositoryBundle())
        let memory = old.seen.memory
        let client = TUFClient(
            store: memory, source: source, trustedRoot: configuration.root, settings: settings, clock: start)
        do throws(StoreError) {
            let pins = try await pinFile(by: client, kept: old.pins?.bundle.pins)
            var bundle = seen(in: memory)
            bundle.pins = pins
            guard bundle != old.pins?.bundle || entityTag != current.entityTag else { return nil }
            let verified = try verified(bundle, issuedUpTo: current.latestIssue())
            try Self.checkOutlasts(verified, old.pins, at: start.now)
            let isNew = old.pins?.bundle.pins != pins
            return document(
                RepositoryState(pins: verified, seen: bundle.metadata, bringsNewPins: isNew), entityTag: entityTag)
        } catch {
            let seen = seen(in: memory)
            guard seen != old.seen else { throw error }
            return document(RepositoryState(pins: old.pins, seen: seen), shortfall: error)
        }
    }

    /// The source of the repository's files, and the entity tag of the bundle (RFC 9110 8.8.3); empty for single files.
    private func source(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<RepositoryState>
    ) async throws(StoreError) -> (any RepositorySource, entityTag: String) {
        let url: URL
        switch configuration.source {
        case .files(let metadata, let targets):
            return (HTTPRepositorySource(metadata: metadata, targets: targets, provider: provider), "")
        case .bundle(let address): url = address
        }
        var request = RemoteDataRequest(
            url: url, headers: ["Accept": "application/json"], maximumBytes: configuration.maximumBundleBytes)
        let pins = current.content?.pins
        if pins != nil, !current.entityTag.isEmpty { request.headers["If-None-Match"] = current.entityTag }
        switch (try await provider.document(for: request), pins) {
        case (let (body, response)?, _):
            do throws(TUFError) {
                let bundle = try RepositoryBundle([UInt8](body), maximumBytes: configuration.maximumBundleBytes)
                return (BundleSource(bundle: bundle), response.entityTag)
            } catch {
                throw StoreError(error)
            }
        // Only the server stated that nothing is new, so the current bundle is verified again, including its
        // expirations.
        case (nil, let pins?): return (BundleSource(bundle: pins.bundle), current.entityTag)
        case (nil, nil): throw StoreError(network: RemoteDataError(status: 304))
        }
    }

    /// Sections 5.1 to 5.7. A pin file that is already stored is not downloaded again.
    private func pinFile(by client: TUFClient, kept: Data?) async throws(StoreError) -> Data {
        do throws(TUFError) {
            let update = try await client.refresh()
            let target = try update.targets.own(configuration.target)
            if let kept, target.description.matches([UInt8](kept)) { return kept }
            return try await update.data(of: target)
        } catch {
            throw StoreError(error)
        }
    }

    private func seen(in memory: MetadataMemory) -> RepositoryBundle {
        RepositoryBundle(memory, afterRoot: rootVersion, settings)
    }

    /// The version of the root that the app shipped with.
    private var rootVersion: Int64 {
        let step = RootStep(settings: settings, meter: WorkMeter(settings))
        return (try? step.initial([UInt8](configuration.root)))?.common.version ?? 0
    }

    private func verified(_ bundle: RepositoryBundle, issuedUpTo latest: Date) throws(StoreError) -> VerifiedPins {
        try VerifiedPins(
            proving: bundle, configuration, at: .beforeAnyExpiration, issuedUpTo: latest, shipped: shipped)
    }

    /// Expired pins do not replace valid ones, because they would lock out all clients. Their versions are remembered
    /// nevertheless, so that nothing older is accepted later.
    static func checkOutlasts(
        _ new: VerifiedPins, _ old: VerifiedPins?, at time: Date
    ) throws(StoreError) {
        guard let old, new.state(at: time) == .expired, old.state(at: time) != .expired else { return }
        throw StoreError(
            .invalidData, expected: "pins that are still valid, like the current ones",
            found: "pins that expired at \(new.end.formatted(.iso8601))",
            remedy: "Publish pins with a later notAfter; until then the app keeps its current pins.")
    }

    private func document(
        _ state: RepositoryState, entityTag: String = "", shortfall: StoreError? = nil
    ) -> FetchedDocument<RepositoryState> {
        var record = StoredRecord(format: recordFormat, body: state.json)
        record.entityTag = entityTag
        return FetchedDocument(record: record, content: state, shortfall: shortfall)
    }

    // MARK: Restarting

    /// Ignores the expiration of metadata: it ends refreshing, not pinning.
    func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> RepositoryState {
        let (proof, seen) = try RepositoryState.read(record.body, maximumBytes: stateBytes)
        guard let proof else { return RepositoryState(pins: nil, seen: seen ?? RepositoryBundle()) }
        do throws(StoreError) {
            // A process that adopts this state from another process has not seen these pins.
            return RepositoryState(
                pins: try verified(proof, issuedUpTo: latest), seen: seen ?? proof.metadata, bringsNewPins: true)
        } catch  where error.underlying is PinFloorError || error.underlying is PinFileError {
            // This build's floor may refuse pins that another build stored. The versions that were seen still prevent a
            // rollback.
            return RepositoryState(pins: nil, seen: seen ?? proof.metadata)
        } catch {
            let code: DocumentError.Code =
                switch error.code {
                case .invalidSignature: .invalidSignature
                case .unsupportedAlgorithm: .unsupportedAlgorithm
                default: .invalidValue
                }
            throw DocumentError(code, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    /// The shipped pins, unless the stored ones are at least as new: a new build may ship newer pins than the previous
    /// build ever saw.
    func beginning(with stored: RepositoryState?) -> RepositoryState? {
        guard let shipped else { return stored }
        guard let stored else { return RepositoryState(pins: shipped, seen: shipped.bundle.metadata) }
        guard let pins = stored.pins, !pins.versions.isOlder(than: shipped.versions) else {
            return RepositoryState(pins: shipped, seen: stored.seen)
        }
        return stored
    }

    // MARK: Evaluating

    func issueTime(of content: RepositoryState) -> Date? { content.pins?.file.issuedAt }

    /// The storage may meanwhile contain a newer state than the one from which the update started.
    func checkReplaces(
        _ new: RepositoryState, _ old: RepositoryState?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        guard let new = new.pins?.versions, let old = old?.pins?.versions, new.isOlder(than: old) else { return }
        throw DocumentError(
            .issuedBeforeNewest, expected: "root \(old.root) and targets \(old.targets), or later versions",
            found: "root \(new.root) and targets \(new.targets)")
    }

    func obstacle(to content: RepositoryState?, at time: Date) -> StoreError? {
        guard let pins = content?.pins else {
            return StoreError(
                .storeIsEmpty, expected: "a pin file of the repository", found: "none",
                remedy: "Let the app reach its repository once, or ship a bundle with it.")
        }
        guard pins.state(at: time) == .expired else { return nil }
        return StoreError(
            .storeIsEmpty, expected: "pins that are still valid",
            found: "pins that expired at \(pins.end.formatted(.iso8601))",
            remedy: "Let the app reach its repository, and check that it is still being published.")
    }

    func state(of content: RepositoryState?, at time: Date) -> StoreState {
        content?.pins?.state(at: time) ?? .absent
    }

    /// The interval that the document specifies, within bounds, but sooner if its pins are about to expire.
    func nextUpdate(
        for content: RepositoryState, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        let spread = generator.unit()
        guard let pins = content.pins, let refresh = pins.file.refresh else {
            return time.addingTimeInterval(UpdateSchedule.shortestInterval * (1 + spread))
        }
        var delay = Double(refresh.after) * (1 + refresh.jitter.value * spread)
        // An eighth of the remaining time, so that several attempts fit in.
        let left = (time < pins.graceBegins ? pins.graceBegins : pins.end).timeIntervalSince(time)
        if left > 0 { delay = min(delay, left / 8) }
        // The bounds are spread too, so that devices do not all update at once.
        let longest = configuration.updateInterval.inSeconds * (1 - spread * 0.2)
        let shortest = UpdateSchedule.shortestInterval * (1 + spread * 0.2)
        return time.addingTimeInterval(max(shortest, min(delay, longest)))
    }

    /// New metadata alone is not an event.
    func news(of content: RepositoryState) -> [StoreEvent] {
        guard content.bringsNewPins, let file = content.pins?.file else { return [] }
        return [StoreEvent(.replaced, entries: file.hosts.count, date: file.issuedAt)]
    }
}

/// A clock that stands still.
struct FixedClock: WallClock {
    let now: Date
}
