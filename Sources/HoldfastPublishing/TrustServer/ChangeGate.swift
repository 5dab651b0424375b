import Foundation
import Holdfast
import HoldfastSigning

/// Lets a known host's certificate through if it was published before, or if somebody has approved it.
struct ChangeGate {
    private let holdsChanges: Bool
    private let time: Date
    private let before: [HeldChange]
    private var waiting: [HeldChange] = []

    init(_ before: [HeldChange], _ rules: PublishingRound.Rules, at time: Date) {
        holdsChanges = rules.holdsChanges
        self.time = time
        self.before = rules.holdsChanges ? before : []
    }

    /// - Parameter old: what the host was seen with before. A new host needs no approval: somebody put it on the list.
    /// - Returns: the certificates that may be published, and the problems.
    mutating func passed(
        _ certificates: [X509Certificate], knownAs old: SeenHost?
    ) -> ([X509Certificate], [PublishingRound.Problem]) {
        guard holdsChanges, let old else { return (certificates, []) }
        let own = before.filter { $0.hostname == old.hostname && $0.port == old.port }
        let approved = Set(own.filter(\.isApproved).flatMap(\.fingerprints))
        func isFree(_ certificate: X509Certificate) -> Bool {
            old.has(certificate) || approved.contains(TrustServerHost.fingerprint(of: certificate))
        }
        var seen: Set<String> = []
        let new = certificates.filter { !isFree($0) }.map(TrustServerHost.fingerprint)
            .filter { seen.insert($0).inserted }.prefix(SeenHost.maximumPins)
        guard !new.isEmpty else { return (certificates, []) }
        let since = own.first { !$0.isApproved && !seen.isDisjoint(with: $0.fingerprints) }?.since ?? time
        waiting.append(
            HeldChange(
                hostname: old.hostname, port: old.port, fingerprints: Array(new), since: since, isApproved: false))
        let text = new.map { "cert-sha256/\($0)" }.joined(separator: ", ")
        return (
            certificates.filter(isFree),
            [PublishingRound.Problem("waits for approval of the certificate \(text)", .held)]
        )
    }

    /// The changes that the next round has to know about.
    /// - Parameter remembered: the hosts as this round remembers them.
    func held(after remembered: [SeenHost]) -> [HeldChange] {
        let published = Dictionary(grouping: remembered) { [$0.hostname, "\($0.port)"] }
        return waiting
            + before.filter { change in
                guard change.isApproved, let host = published[[change.hostname, "\(change.port)"]]?.first else {
                    return false
                }
                return !change.fingerprints.allSatisfy { host.pins.contains($0) }
            }
    }
}
