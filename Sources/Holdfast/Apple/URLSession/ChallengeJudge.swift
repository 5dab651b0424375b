#if canImport(Security)
/// Evaluates the server of a challenge.
package protocol ChallengeJudge: Sendable {
    /// Whether a server is trusted. It prepares the policy first, and blocks no thread of the caller.
    func decision(for trust: SystemTrust, host: DialedHost) async -> TrustDecision
}

/// Evaluates with the policies of a manager.
struct ManagerJudge: ChallengeJudge {
    let manager: TrustManager
    let anchors: TrustAnchors?
    var revocation = SystemRevocation.system

    func decision(for trust: SystemTrust, host: DialedHost) async -> TrustDecision {
        await manager.decision(for: ServerTrust(trust, host: host, anchors: anchors, revocation: revocation))
    }
}
#endif
