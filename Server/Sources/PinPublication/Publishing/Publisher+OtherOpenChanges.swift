package import PinChanges
package import ServerFoundation
import ServerStore

extension Publisher {
    /// The other changes of the same app that can still be published, the oldest first; empty if the change itself has
    /// ended. The command, REST and the page of the change show them.
    /// - Parameter id: the change.
    /// - Throws: ``ServerError``.
    package func otherOpenChanges(than id: RandomID) async throws(ServerError) -> [OtherOpenChange] {
        let chain = try await catalog.approvers()
        return try await catalog.look { session, ledger throws(ServerError) in
            let now = max(try session.now(), ledger.latestTime)
            guard let app = ledger.proposals[id]?.app else { return [] }
            let open = ledger.openChanges(at: now).filter { $0.proposal.app == app }.map(\.change)
            guard open.contains(id) else { return [] }
            var others: [OtherOpenChange] = []
            for other in open where other != id {
                let change = try Catalog.standing(of: other, session, ledger)
                let state = change.state(chain, generation: ledger.generation(of: app), at: now)
                guard state == .proposed || state == .approved else { continue }
                others.append(
                    OtherOpenChange(id: other, state: state, proposed: change.proposed, reason: change.reason))
            }
            return others
        }
    }
}
