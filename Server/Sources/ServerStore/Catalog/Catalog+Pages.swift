package import ServerApprovals
package import ServerFoundation
import ServerModel

extension Catalog {
    /// The origin of the pages when the server last started with some; nil if it never did. The audit records it,
    /// because passkeys are valid for one origin only.
    package var pages: RelyingParty? { ledger.people.pages }

    /// Records the origin of the pages if it has changed.
    /// - Returns: the previous origin, if another one.
    /// - Throws: ``ServerError`` of the database.
    package func notePages(at party: RelyingParty, by actor: String) async throws(ServerError) -> RelyingParty? {
        guard pages != party else { return nil }
        return try await transact { step throws(ServerError) in
            let before = step.ledger.people.pages
            guard before != party else { return nil }
            try step.record(.pages, by: actor, ["origin": party.origin])
            return before
        }
    }
}
