import HoldfastPublishing
import ServerApprovals
package import ServerFoundation
import ServerModel
package import ServerStore

extension Ledger.Proposal {
    /// Whether it skips the canary, so that all clients get it at once.
    package var isEmergency: Bool {
        forced.utf8.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(Gate.canary.rawValue.utf8) }
    }
}

extension Ledger {
    /// The changes that can still be published, the oldest first.
    /// - Parameter now: seconds since 1970.
    package func openChanges(at now: Int64) -> [(change: RandomID, proposal: Proposal)] {
        proposals.filter { change, proposal in
            ended[change] == nil && proposal.baseGeneration == generation(of: proposal.app)
                && (now <= PublicationTiming.changeEnd(of: proposal.time) || canaries[proposal.app]?.change == change)
        }
        .map { (change: $0.key, proposal: $0.value) }
        .sorted { ($0.proposal.time, "\($0.change)") < ($1.proposal.time, "\($1.change)") }
    }
}
