import Holdfast

/// Asks the trust manager, with the anchors and at the time of the moment.
struct TrustJudge: Sendable {
    /// Which policies, documents with pins, and anchors a decision was made under.
    struct Version: Hashable, Sendable {
        let policies: UInt64
        let documents: UInt64
        let anchors: TrustAnchors
    }

    let manager: TrustManager
    let unknownHosts: UnknownHostRule
    let validator: @Sendable () -> PathValidator
    let clock: any WallClock

    var anchors: TrustAnchors { validator().anchors }

    func version(for host: DialledHost) -> Version {
        Version(
            policies: manager.generation, documents: manager.policy(for: host)?.currentRevision ?? 0, anchors: anchors)
    }

    /// The policy of a host that may be connected to; nil where standard validation decides about an unknown one.
    ///
    /// - Throws: the `TrustFailure` of a host without a policy, and of one that is to be talked to without TLS although
    ///   its policy asks for a certificate. Nothing is connected for these.
    func policy(for origin: HTTPOrigin) throws(TrustFailure) -> (any TrustPolicy)? {
        let policy = manager.policy(for: origin.host)
        if origin.scheme == .http || (policy == nil && unknownHosts == .reject) {
            let decision = decision(about: nil, from: origin.host)
            if let failure = decision.failure { throw failure }
        }
        return policy
    }

    /// Judges what a server presented; nil for a connection without TLS, which presents nothing.
    func decision(about chain: PresentedChain?, from host: DialledHost) -> TrustDecision {
        let time = clock.now
        if chain == nil, let policy = manager.policy(for: host) { return policy.decisionWithoutTrust(at: time) }
        let trust = ServerTrust(
            chain: chain ?? PresentedChain([]), purpose: .server(host), validator: validator())
        return manager.evaluate(trust, at: time, unknownHosts: unknownHosts)
    }
}
