#if canImport(Security)
import Foundation
import Holdfast

/// Evaluates challenges with the certificates that ``ISPCertificatePinning`` stores.
struct StoredCertificatesJudge: ChallengeJudge {
    let file: URL
    let clock: any WallClock

    func decision(for trust: SystemTrust, host: DialedHost) async -> TrustDecision {
        await EvaluationQueue.run {
            let decision = ISPCertificatePinning.decision(for: host.name, file: file, at: clock.now) {
                ServerTrust(trust, host: $0)
            }
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
