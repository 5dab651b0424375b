extension Catalog {
    /// Where people's browsers found the pages when the server last started with some; nil if it never did. The audit says
    /// so, since passkeys are for one address only.
    public var pages: RelyingParty? { ledger.people.pages }

    /// Notes where the pages are, if that is news.
    /// - Returns: where they were before, if somewhere else.
    /// - Throws: ``ServerError`` of the database.
    public func notePages(at party: RelyingParty, by actor: String) async throws(ServerError) -> RelyingParty? {
        guard pages != party else { return nil }
        return try await transact { step throws(ServerError) in
            let before = step.ledger.people.pages
            guard before != party else { return nil }
            try step.record(.pages, by: actor, ["origin": party.origin])
            return before
        }
    }
}
