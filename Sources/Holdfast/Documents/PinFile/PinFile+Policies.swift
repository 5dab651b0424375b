import struct Foundation.Date

extension PinFile {
    /// The permissions of one build beyond the file's.
    public struct Overrides: Sendable, Hashable {
        let usesDebugAnchors: Bool

        /// No permissions beyond the file's.
        public static let none = Overrides(usesDebugAnchors: false)

        #if DEBUG
        /// Trusts the debug anchors of the file: a chain to one of them is trusted without a pin, with a line in the
        /// log each time.
        ///
        /// It exists only in debug builds, so code that uses it does not compile for release. Write `#if DEBUG` around
        /// its use.
        public static let debugOverrides = Overrides(usesDebugAnchors: true)
        #endif
    }

    /// A policy for each host, in the order of the file.
    /// - Parameters:
    ///   - overrides: the permissions of a debug build.
    public func policies(overrides: Overrides = .none) -> [any TrustPolicy] {
        let anchors =
            overrides.usesDebugAnchors && !debugAnchors.isEmpty ? TrustAnchors(debugAnchors) : nil
        let end = end ?? .distantFuture
        return hosts.map { $0.policy(until: end, anchors, version: version) }
    }
}

extension PinFile.Host {
    fileprivate func policy(
        until end: Date, _ debugAnchors: TrustAnchors?, version: String?
    ) -> any TrustPolicy {
        guard !isRetired else { return RejectingPolicy(scope: .hosts(pattern), failure: retirement) }
        return PinnedPolicy(
            scope: .hosts(pattern), source: PinFileEntry(self, until: end, version: version), certificates: [],
            debugAnchors: debugAnchors)
    }
}
