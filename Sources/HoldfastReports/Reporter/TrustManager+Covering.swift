import Foundation
import Holdfast

extension TrustManager {
    /// The host or pattern whose pins a connection to a URL would have to meet; nil if no pin is asked for.
    func pinnedName(for url: URL) -> String? {
        guard let host = try? DialedHost(url: url), let policy = policy(for: host) else { return nil }
        // A policy says which pins it looks for when it decides. Nobody presents nothing, so it decides about nobody.
        let nobody = ServerTrust(
            chain: PresentedChain([]), purpose: .server(identity: host),
            validator: PathValidator(anchors: TrustAnchors([])))
        let decision = policy.evaluate(nobody, at: clock.now)
        guard !decision.configuredPins.isEmpty else { return nil }
        return decision.entry?.pattern.description ?? decision.policyName
    }
}
