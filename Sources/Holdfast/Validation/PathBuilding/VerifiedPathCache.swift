/// Remembers validated paths for a short time, so that a second connection to a server costs only a hash and a lookup.
///
/// Only paths are kept: pins, expiry and policy are evaluated every time, and failures are not kept. A path is reused
/// only for the same presented certificates in the same order, the same anchors, revocation lists, certificate
/// policies, transparency logs, purpose, profile, limits, public suffixes and checked identity, at a time within the
/// validity of every certificate on it and of the revocation lists, at most five minutes after it was made.
public final class VerifiedPathCache: Sendable {
    /// The time for which a path is remembered, on a monotonic clock.
    package static let lifetime: Duration = .seconds(300)

    /// Everything that a path was validated with. The digests of its certificates in order represent the chain.
    struct Key: Hashable {
        private let certificates: [Pin]
        private let identity: DialedHost.Kind?
        /// The purpose without the host, whose port does not matter.
        private let purpose: ValidationPurpose
        private let anchors: [UInt8]
        private let revocation: [UInt8]
        private let policies: CertificatePolicies
        private let transparency: [UInt8]?
        private let publicSuffixes: [UInt8]?
        private let profile: ValidationProfile
        private let limits: ValidationLimits

        init(
            _ chain: PresentedChain, for purpose: ValidationPurpose, under anchors: TrustAnchors,
            checking revocation: Revocation, asking transparency: TransparencyDemand?, by validator: PathValidator
        ) {
            certificates = chain.certificates.map(Pin.certificate)
            identity = purpose.host?.kind
            self.purpose = purpose.checkingHost(false)
            self.anchors = anchors.digest
            self.revocation = revocation.digest
            policies = validator.certificatePolicies
            self.transparency = transparency?.digest
            publicSuffixes = validator.publicSuffixes?.digest
            profile = validator.profile
            limits = validator.limits
        }

        /// Hashes only the certificates, which distinguish nearly all keys.
        func hash(into hasher: inout Hasher) { hasher.combine(certificates) }
    }

    private struct Entry {
        let path: ValidatedPath
        let validity: ClosedRange<Int64>
        let made: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Keys in the order they were added, the oldest first; at most twice as many as entries.
        var order: [Key] = []
    }

    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Lock(State())

    /// Makes an empty cache.
    /// - Parameters:
    ///   - capacity: the maximum number of paths that are kept; the oldest are removed first.
    ///   - now: a monotonic clock.
    public init(capacity: Int = 512, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.capacity = max(capacity, 1)
        self.now = now
    }

    /// Forgets every path.
    public func removeAll() { state.withLock { $0 = State() } }

    /// The number of paths that are remembered.
    package var count: Int { state.withLock { $0.entries.count } }

    func path(for key: Key, at time: Int64) -> ValidatedPath? {
        let instant = now()
        return state.withLock { state in
            guard let entry = state.entries[key], entry.validity.contains(time),
                entry.made.duration(to: instant) <= Self.lifetime
            else { return nil }
            return entry.path
        }
    }

    /// - Parameter start: the time from which the other checks hold, such as those of revocation lists.
    func remember(_ path: ValidatedPath, for key: Key, since start: Int64 = .min) {
        let notBefore = path.certificates.map(\.layout.notBefore).max().map { max($0, start) } ?? .max
        let last = path.holdsUntil.wholeSeconds - 1
        guard notBefore <= last else { return }
        let entry = Entry(path: path, validity: notBefore...last, made: now())
        state.withLock { state in
            if state.entries.updateValue(entry, forKey: key) == nil { state.order.append(key) }
            while state.entries.count > capacity, !state.order.isEmpty {
                state.entries[state.order.removeFirst()] = nil
            }
        }
    }
}
