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
    let validator: @Sendable () -> PathValidator
    let clock: any WallClock

    var anchors: TrustAnchors { validator().anchors }

    func version(for host: DialledHost) -> Version {
        Version(
            policies: manager.generation, documents: manager.policy(for: host)?.revision ?? 0, anchors: anchors)
    }

    /// The policy of a host that may be connected to; nil where standard validation decides about an unknown one.
    ///
    /// - Throws: the `TrustFailure` of a host without a policy, and of one that is to be talked to without TLS although
    ///   its policy asks for a certificate. Nothing is connected for these.
    func policy(for origin: HTTPOrigin) throws(TrustFailure) -> (any TrustPolicy)? {
        let lookup = manager.lookUp(origin.host)
        if origin.scheme == .http || lookup.isRefused {
            let decision = decision(about: nil, from: origin.host)
            if let failure = decision.failure { throw failure }
        }
        return lookup.policy
    }

    /// Judges what a server presented whose handshake proved the key of the leaf; nil for a connection without TLS, which
    /// presents nothing. A manager's observers learn of it.
    func decision(about chain: PresentedChain?, from host: DialledHost) -> TrustDecision {
        if chain == nil, let policy = manager.policy(for: host) { return policy.decisionWithoutTrust(at: clock.now) }
        let judgment = judgment(about: chain ?? PresentedChain([]), from: host)
        let decision = chain == nil ? judgment : judgment.provedByHandshake
        manager.tell(decision)
        return decision
    }

    /// The decision about what is known of a server whose handshake proved the key of the leaf, if it is to trust. A
    /// rejection is told nobody: more evidence may change it.
    func trust(in chain: PresentedChain, from host: DialledHost) -> TrustDecision? {
        let judgment = judgment(about: chain, from: host)
        guard judgment.isTrusted else { return nil }
        let decision = judgment.provedByHandshake
        manager.tell(decision)
        return decision
    }

    /// Why a server is refused whose handshake proved nothing; nil when it is not.
    func refusal(of chain: PresentedChain, from host: DialledHost) -> TrustFailure? {
        let judgment = judgment(about: chain, from: host)
        if !judgment.isTrusted { manager.tell(judgment) }
        return judgment.failure
    }

    private func judgment(about chain: PresentedChain, from host: DialledHost) -> TrustDecision {
        let trust = ServerTrust(chain: chain, purpose: .server(identity: host), validator: validator())
        return manager.judgment(of: trust, at: clock.now)
    }
}
