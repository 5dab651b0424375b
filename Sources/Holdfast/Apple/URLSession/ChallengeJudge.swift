#if canImport(Security)
import struct Foundation.URL

/// Who decides about the server of a challenge.
protocol ChallengeJudge: Sendable {
    /// Whether a server is trusted; it waits for what the policy waits for, and blocks no thread of the caller's.
    func decision(for trust: SystemTrust, host: DialledHost) async -> TrustDecision
}

/// By the policies of a manager.
struct ManagerJudge: ChallengeJudge {
    let manager: TrustManager
    let anchors: TrustAnchors?
    var revocation = SystemRevocation.system

    func decision(for trust: SystemTrust, host: DialledHost) async -> TrustDecision {
        await manager.decision(for: ServerTrust(trust, host: host, anchors: anchors, revocation: revocation))
    }
}

/// By the certificates that ``ISPCertificatePinning`` keeps.
struct StoredCertificatesJudge: ChallengeJudge {
    let file: URL
    let clock: any WallClock

    func decision(for trust: SystemTrust, host: DialledHost) async -> TrustDecision {
        await EvaluationQueue.run {
            let decision = ISPCertificatePinning.decision(for: trust, domain: host.name, file: file, clock: clock)
            if let decision { return decision }
            let failure = TrustFailure(
                .noPolicyForHost, expected: "stored certificates of \(host.name)", found: "none that can be used",
                host: host)
            return TrustDecision(
                .rejected(failure), policyName: host.name, host: host, time: clock.now,
                chain: ServerTrust(trust, host: host).chain)
        }
    }
}
#endif
