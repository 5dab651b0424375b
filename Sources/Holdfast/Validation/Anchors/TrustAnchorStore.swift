public import Logging

/// Anchors that can be replaced while connections are made. The store reads a source, and publishes the result as one
/// new set.
///
/// A reader of ``current`` sees the old set or the new one, never a mixture. A source that fails or yields nothing
/// leaves the set as it was. No lock is held while the source is read.
public final class TrustAnchorStore: Sendable {
    private let source: @Sendable () async throws -> TrustAnchors
    private let logger: Logger
    private let state: Lock<TrustAnchors>

    /// Reads the anchors for the first time.
    /// - Parameters:
    ///   - logger: gets a line about each reload that fails.
    ///   - source: reads the anchors; by default those of the system.
    /// - Throws: the error of the source, and ``TrustAnchorError`` if it yields no anchor.
    public init(
        logger: Logger = Logger(label: "holdfast.anchors"),
        source: @escaping @Sendable () async throws -> TrustAnchors = { try await TrustAnchors.system() }
    ) async throws {
        self.source = source
        self.logger = logger
        state = Lock(try await Self.read(source))
    }

    /// The current set.
    public var current: TrustAnchors { state.withLock { $0 } }

    /// Reads the source again and publishes the result.
    /// - Returns: whether the set changed.
    /// - Throws: the error of the source, and ``TrustAnchorError`` if it yields no anchor; the set stays as it was.
    @discardableResult
    public func reload() async throws -> Bool {
        let anchors = try await Self.read(source)
        return state.withLock { current in
            defer { current = anchors }
            return current != anchors
        }
    }

    /// Reloads periodically until the task is canceled; a reload that fails is logged and retried at the next interval.
    /// - Parameters:
    ///   - interval: the time between two reloads; at least a second, at most a year.
    ///   - clock: measures the interval.
    public func run(every interval: Duration, clock: some Clock<Duration> = ContinuousClock()) async {
        // A zero interval would keep a core busy, and clocks trap on times that they cannot represent.
        let interval = min(max(interval, .seconds(1)), .seconds(366 * 86_400))
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: interval)
            } catch {
                return
            }
            do {
                if try await reload() {
                    logger.info("The trust anchors changed", metadata: ["count": "\(current.certificates.count)"])
                }
            } catch {
                logger.error(
                    "The trust anchors could not be reloaded and stay as they were",
                    metadata: ["error": "\(ForeignErrorText.whole(error))"])
            }
        }
    }

    private static func read(_ source: @Sendable () async throws -> TrustAnchors) async throws -> TrustAnchors {
        let anchors = try await source()
        guard !anchors.isEmpty else {
            throw TrustAnchorError(.noneFound, expected: "at least one anchor", found: "an empty set")
        }
        return anchors
    }
}
