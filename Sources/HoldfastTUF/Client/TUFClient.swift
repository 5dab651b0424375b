public import Foundation
public import Holdfast

/// A client of The Update Framework (specification 1.0.34, section 5). It starts from a trusted root and ends with
/// trusted targets.
///
/// ```swift
/// let client = TUFClient(
///     store: MetadataFolder(folder),
///     source: HTTPRepositorySource(metadata: metadataURL, targets: targetsURL, provider: provider),
///     trustedRoot: rootThatTheAppCameWith)
/// let update = try await client.refresh()
/// let data = try await update.data(of: update.target("pins.json"))
/// ```
/// Security does not depend on the transport or on what is stored: every file is verified whenever it is used. Several
/// processes may share one folder.
public struct TUFClient: Sendable {
    private let store: any MetadataStore
    private let source: any RepositorySource
    private let trustedRoot: Data?
    private let settings: TUFSettings
    private let clock: any WallClock
    let meter: WorkMeter

    /// Makes a client. It reads and downloads nothing.
    /// - Parameters:
    ///   - store: the storage for trusted metadata.
    ///   - source: provides the files of the repository.
    ///   - trustedRoot: the root that the application shipped with, from which every update proceeds to the newest.
    ///     Without one, updates begin with what ``initialize(root:)`` or an earlier update has stored: then the store
    ///     is trusted.
    ///   - settings: the limits for what the repository may demand.
    ///   - clock: provides the time at which an update begins.
    public init(
        store: any MetadataStore, source: any RepositorySource, trustedRoot: Data? = nil,
        settings: TUFSettings = TUFSettings(), clock: any WallClock = SystemWallClock()
    ) {
        self.store = store
        self.source = source
        self.trustedRoot = trustedRoot
        self.settings = settings
        self.clock = clock
        meter = WorkMeter(settings)
    }

    /// Stores a root to start from, and replaces the stored one. This sends no request to the repository.
    /// - Parameter root: root metadata from a trusted source. It must be signed by its own keys; it may have expired.
    /// - Throws: ``TUFError``.
    public func initialize(root: Data) throws(TUFError) {
        _ = try RootStep(settings: settings, meter: meter).initial([UInt8](root))
        let context = context()
        let name = StoredMetadataName(.root)
        let old = try context.kept(name, atMost: settings.rootBytes)
        try context.keep(name, old, root, atMost: settings.rootBytes)
    }

    /// Brings the metadata of the top-level roles up to date (sections 5.1 to 5.6.6).
    ///
    /// The client requests the files that the workflow needs, in its order, and stores each as soon as it is trusted.
    /// If an update ends early, for whatever reason, the last trusted state stays in the store and the next update
    /// continues from there.
    /// - Throws: ``TUFError``.
    public func refresh() async throws(TUFError) -> TUFUpdate {
        let context = context()
        let root = try await RootWalk(context: context, trustedRoot: trustedRoot).newest()
        try context.start.require(root.common, of: .root, section: "5.3.10")
        let timestamp = try await context.timestamp(root)
        let snapshot = try await context.snapshot(root, timestamp)
        let targets = try await context.targets(
            root.targets, snapshot, isConsistent: root.consistentSnapshot)
        return TUFUpdate(context: context, root: root, snapshot: snapshot, targets: targets)
    }

    /// Fixes the time at which the update begins (section 5.1).
    private func context() -> UpdateContext {
        UpdateContext(
            store: store, source: source, settings: settings, start: UpdateStart(clock.now), meter: meter)
    }
}
