import Holdfast

/// Lets the trust manager evaluate servers, with the current anchors and time. It makes no decision itself.
///
/// A host's policy is looked up once before a decision and once after it; the first lookup also determines which
/// evidence the policy needs.
struct TrustEvaluator: Sendable {
    /// The conditions of a decision: the policy, its documents, the anchors and the revocation lists.
    struct Version: Hashable, Sendable {
        let policy: HostLookup.Version
        let anchors: TrustAnchors
        let revocation: [UInt8]
    }

    /// The policy, anchors and revocation lists for a host at one moment.
    struct Look: Sendable {
        let host: DialedHost
        let anchors: TrustAnchors
        fileprivate let revocation: [UInt8]
        fileprivate let lookup: HostLookup

        /// nil for a host without a policy.
        var policy: (any TrustPolicy)? { lookup.policy }
        var version: Version { Version(policy: lookup.version, anchors: anchors, revocation: revocation) }
    }

    /// A decision of the trust manager with its conditions.
    struct Evaluation: Sendable {
        let decision: TrustDecision
        let version: Version
    }

    let manager: TrustManager
    let validator: PathValidator
    let clock: any WallClock

    func look(at host: DialedHost) -> Look {
        Look(
            host: host, anchors: validator.anchors, revocation: validator.revocation.digest,
            lookup: manager.lookUp(host))
    }

    /// Whether no policy and no revocation list has changed since.
    func isCurrent(_ look: Look) -> Bool {
        manager.generation == look.lookup.generation && validator.revocation.digest == look.revocation
    }

    /// Looks up a host before connecting to it.
    ///
    /// - Throws: the `TrustFailure` of a host without a policy, and of a plain HTTP host whose policy requires a
    ///   certificate. No connection is made for these.
    func look(at origin: HTTPOrigin) throws(TrustFailure) -> Look {
        // A request on a pooled connection needs no new decision; the lists that it depends on are still renewed.
        validator.noteUse(following: [])
        let look = look(at: origin.host)
        if origin.scheme == .http || look.lookup.isRefused {
            if let failure = evaluation(of: nil, under: look).decision.failure { throw failure }
        }
        return look
    }

    /// Evaluates the server's chain, after the handshake has proved the leaf's key; nil for a connection without TLS,
    /// which presents nothing. The manager's observers are notified.
    func evaluation(of chain: PresentedChain?, under look: Look) -> Evaluation {
        if chain == nil, let policy = look.policy {
            return Evaluation(decision: policy.decisionWithoutTrust(at: clock.now), version: look.version)
        }
        let evaluation = unprovedEvaluation(of: chain ?? PresentedChain([]), under: look)
        let decision = chain == nil ? evaluation.decision : evaluation.decision.provedByHandshake
        tell(decision)
        return Evaluation(decision: decision, version: evaluation.version)
    }

    /// The decision by the current evidence if it is to trust, after the handshake has proved the leaf's key. A
    /// rejection is not reported, because more evidence may change it.
    func trust(in chain: PresentedChain, under look: Look) -> Evaluation? {
        let evaluation = unprovedEvaluation(of: chain, under: look)
        guard evaluation.decision.isTrusted else { return nil }
        let decision = evaluation.decision.provedByHandshake
        tell(decision)
        return Evaluation(decision: decision, version: evaluation.version)
    }

    /// The decision about a server whose handshake is not complete. The observers are notified only of a rejection,
    /// because that ends the handshake.
    func unprovedDecision(about chain: PresentedChain, under look: Look) -> TrustDecision {
        let decision = unprovedEvaluation(of: chain, under: look).decision
        if !decision.isTrusted { tell(decision) }
        return decision
    }

    /// Whether a server is trusted by the current evidence if its handshake is completed. No observer is notified.
    func wouldTrust(_ chain: PresentedChain, under look: Look) -> Bool {
        unprovedEvaluation(of: chain, under: look).decision.isTrusted
    }

    /// Reports the reason why TLS itself refused a server.
    func tell(_ failure: TrustFailure, under look: Look) {
        tell(
            TrustDecision(
                .rejected(failure), policyName: look.policy?.hostName ?? look.host.name, host: look.host,
                time: clock.now, chain: failure.chain))
    }

    private func tell(_ decision: TrustDecision) {
        manager.tell(decision)
        validator.noteUse(following: decision.pathsToFollow)
    }

    private func unprovedEvaluation(of chain: PresentedChain, under look: Look) -> Evaluation {
        let trust = ServerTrust(chain: chain, purpose: .server(identity: look.host), validator: validator)
        let (decision, version) = look.lookup.versionedJudgment(of: trust, at: clock.now)
        return Evaluation(
            decision: decision, version: Version(policy: version, anchors: look.anchors, revocation: look.revocation))
    }
}
