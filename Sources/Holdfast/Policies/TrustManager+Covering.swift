package import Foundation

extension TrustManager {
    /// The pins that a connection to a destination would have to meet.
    package struct Cover {
        /// The entry that asks for them; nil for a policy without entries.
        package let pattern: HostPattern?
        /// The name of the entry, or of the policy.
        package let name: String
    }

    /// Finds out whether a connection to a URL would have to meet pins. A report of wrong pins to such an address fails
    /// because of the same pins, so that reporters and the tools that write pin files refuse it, by this one check.
    /// - Parameter time: the time at which pins count; nil for now.
    /// - Returns: nil if no pin is asked for.
    package func cover(of url: URL, at time: Date? = nil) -> Cover? {
        guard let host = try? DialedHost(url: url), let policy = policy(for: host) else { return nil }
        // A policy says which pins it looks for when it decides. Nobody presents nothing, so it decides about nobody.
        let nobody = ServerTrust(
            chain: PresentedChain([]), purpose: .server(identity: host),
            validator: PathValidator(anchors: TrustAnchors([])))
        let decision = policy.evaluate(nobody, at: time ?? clock.now)
        guard !decision.configuredPins.isEmpty else { return nil }
        let pattern = decision.entry?.pattern
        return Cover(pattern: pattern, name: pattern?.description ?? decision.policyName)
    }
}
