package import Foundation

extension TrustManager {
    /// The pins that a connection to a destination would have to meet.
    package struct Cover {
        /// The entry that requires them; nil for a policy without entries.
        package let pattern: HostPattern?
        /// The name of the entry, or of the policy.
        package let name: String
    }

    /// Returns the pins that a connection to a URL would have to meet. A report about wrong pins must not go to an
    /// address that needs the same pins, because it would fail too. Reporters and the tools that write pin files refuse
    /// such an address with this check.
    /// - Parameter time: the time at which pins count; nil for now.
    /// - Returns: nil if no pin is required.
    package func cover(of url: URL, at time: Date? = nil) -> Cover? {
        guard let host = try? DialedHost(url: url), let policy = policy(for: host) else { return nil }
        // A policy lists its pins only in a decision, so evaluate an empty chain.
        let nobody = ServerTrust(
            chain: PresentedChain([]), purpose: .server(identity: host),
            validator: PathValidator(anchors: TrustAnchors([])))
        let decision = policy.evaluate(nobody, at: time ?? clock.now)
        guard !decision.configuredPins.isEmpty else { return nil }
        let pattern = decision.entry?.pattern
        return Cover(pattern: pattern, name: pattern?.description ?? decision.policyName)
    }
}
