import Dispatch
import Foundation
public import Holdfast
public import Logging

#if Services
public import ServiceLifecycle

extension PinRepository: Service {}
#endif

/// Keeps pins up to date from a repository that cannot be rolled back. It downloads the repository's pin file, verifies
/// it by The Update Framework, stores and renews it, and provides the pins to policies.
///
/// ```swift
/// let floor = PinFloor(covering: [try HostPattern("api.example.com")])
/// var configuration = PinRepositoryConfiguration(source: .bundle(url), root: root, floor: floor)
/// configuration.shipped = .init(bundle: bundleOfThisBuild, grace: .seconds(2 * 365 * 86_400))
/// let repository = try await PinRepository.load(configuration: configuration)
/// manager.add(policy: try repository.policy(for: "api.example.com"))
/// ```
/// A new pin file replaces the old one as a whole. One that falls short of the ``PinFloor``, or is older than the
/// current one, does not change the pins. When metadata expires, pins are no longer refreshed but still enforced: they
/// end at the pin file's `notAfter` plus its grace period. Policies read a snapshot, and wait for neither storage nor
/// network.
public final class PinRepository: UpdatingStore {
    /// The configuration of the repository.
    public let configuration: PinRepositoryConfiguration
    /// The engine that stores and updates the repository's pins.
    public var engine: StoreEngine { StoreEngine(documents) }
    let documents: DocumentStore<PinRepositoryFormat>
    let log: PolicyLog

    /// Makes a repository if the configuration is valid. It reads and verifies the stored and the shipped state before
    /// it returns. ``load(configuration:clock:logger:)`` does the same off the caller's thread.
    /// - Parameters:
    ///   - configuration: the source of the pins and the requirements for them.
    ///   - clock: provides the time.
    ///   - logger: logs failed updates, pins in their grace period and hosts without a backup pin; nil for a logger
    ///     labeled `holdfast.store`.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public convenience init(
        checking configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        try self.init(configuration, clock, Self.log(logger))
    }

    private static func log(_ logger: Logger?) -> PolicyLog { logger.map { PolicyLog($0) } ?? .shared }

    private init(
        _ configuration: PinRepositoryConfiguration, _ clock: any WallClock, _ log: PolicyLog
    ) throws(StoreError) {
        if let error = configuration.error ?? configuration.buildDateError(at: clock.now) { throw error }
        self.configuration = configuration
        self.log = log
        documents = DocumentStore(
            format: PinRepositoryFormat(configuration: configuration, shipped: try Self.shipped(configuration)),
            clock: clock, dataStore: configuration.secureDataStore, provider: configuration.remoteDataProvider,
            logger: log.storeLogger)
    }

    /// Makes a repository if the configuration is valid, reading and verifying off the caller's thread.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public static func load(
        configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> PinRepository {
        // The task-local log of this task is not visible on the queue.
        let log = log(logger)
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try PinRepository(configuration, clock, log)
        }
    }

    /// Verifies the shipped bundle: it must have been current at the build's date, or at its own date.
    private static func shipped(
        _ configuration: PinRepositoryConfiguration
    ) throws(StoreError) -> VerifiedPins? {
        guard let shipped = configuration.shipped else { return nil }
        do throws(StoreError) {
            let bundle: RepositoryBundle
            do throws(TUFError) {
                bundle = try RepositoryBundle(
                    [UInt8](shipped.bundle), maximumBytes: configuration.maximumBundleBytes)
            } catch {
                throw StoreError(error)
            }
            let date = configuration.buildDate ?? bundle.date
            return try VerifiedPins(
                proving: bundle, configuration, at: date.map { UpdateStart($0) } ?? .beforeAnyExpiration,
                issuedUpTo: (date ?? .distantPast).addingTimeInterval(TrustedTime.longestLead), grace: shipped.grace)
        } catch {
            let date = configuration.buildDate == nil ? "its own date" : "the build's date"
            throw StoreError(
                .invalidConfiguration, expected: "a bundle that was current at \(date): \(error.expected)",
                found: error.found,
                remedy: configuration.buildDate == nil
                    ? "Ship the bundle that the repository serves when the app is built."
                    : """
                    Ship the bundle that the repository serves when the app is built, and leave buildDate out: the \
                    bundle carries its date.
                    """,
                underlying: error.underlying)
        }
    }

    /// The current pin file; nil while there is none.
    public var pinFile: PinFile? { documents.snapshot.content?.pins?.file }
}
