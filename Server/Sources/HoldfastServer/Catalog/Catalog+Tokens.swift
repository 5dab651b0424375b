extension Catalog {
    /// More tokens than anybody keeps count of.
    static let maximumTokenCount = 1_000

    /// Makes a token.
    /// - Parameters:
    ///   - grant: what it is for.
    ///   - actor: who makes it, for the audit.
    ///   - generator: makes it.
    /// - Returns: the token, of which only the digest is kept.
    /// - Throws: ``ServerError`` `notFound` for an app or a host that does not exist, `constraint` for a name that a token
    ///   has already, `invalidValue` for an end that is over.
    public func add(
        _ grant: TokenGrant, by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> AccessToken {
        let token = AccessToken(using: &generator)
        let digest = token.digest
        try await transact { step throws(ServerError) in
            if let app = grant.app {
                try step.requireApp(app)
                try Self.requireHosts(of: grant, app, step)
            }
            guard grant.end > step.now else {
                throw ServerError(.invalidValue, of: "end", expected: "a time to come", found: "\(grant.end)")
            }
            guard step.ledger.tokens.count < Self.maximumTokenCount,
                !step.ledger.tokens.values.contains(where: { $0.name.utf8.elementsEqual(grant.name.utf8) })
            else {
                throw ServerError(
                    .constraint, of: "token \(grant.name)",
                    expected: "a new name, and at most \(Self.maximumTokenCount) tokens", found: "another",
                    remedy: "Take another name, or end the old one first: "
                        + "`holdfast-server token revoke \(grant.name) --data DIR`.")
            }
            // Only what the audit does not know can be there.
            try step.session.run(
                "DELETE FROM token WHERE name = $1 OR digest = $2", [.text(grant.name), .bytes(digest.bytes)])
            try step.session.run(
                """
                INSERT INTO token (digest, name, app, scopes, created_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .bytes(digest.bytes), .text(grant.name), .optional(grant.app?.description),
                    .text(grant.scopeText), .integer(step.now), .integer(grant.end),
                ])
            var facts = [
                "action": "added", "token": "\(digest)", "name": grant.name, "scope": grant.scopeText,
                "end": "\(grant.end)",
            ]
            if let app = grant.app { facts["app"] = "\(app)" }
            try step.record(.token, by: actor, facts)
        }
        return token
    }

    private static func requireHosts(of grant: TokenGrant, _ app: AppName, _ step: Step) throws(ServerError) {
        guard case .gate(let named) = grant.scope else { return }
        let known = Set(try hosts(of: app, step.session, step.ledger).map { Array($0.host.label.utf8) })
        for host in named where !known.contains(Array(host.utf8)) {
            throw ServerError(
                .notFound, of: "host", expected: "a host of \(app), as NAME:PORT", found: host,
                remedy: "Name one that `holdfast-server host list \(app) --data DIR` shows.")
        }
    }

    /// Ends a token.
    /// - Throws: ``ServerError`` `notFound`.
    public func revokeToken(_ name: String, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let found = step.ledger.tokens.first { $0.value.name.utf8.elementsEqual(name.utf8) }
            guard let (digest, grant) = found else {
                throw ServerError(
                    .notFound, of: "token", expected: "the name of a token", found: name,
                    remedy: "Take a name that `holdfast-server token list --data DIR` shows.")
            }
            try step.session.run("DELETE FROM token WHERE digest = $1", [.bytes(digest.bytes)])
            try step.record(.token, by: actor, ["action": "revoked", "token": "\(digest)", "name": grant.name])
        }
    }

    /// All tokens that were made and not revoked, sorted by name; those whose time is over as well.
    /// - Throws: ``ServerError``.
    public func tokens() async throws(ServerError) -> [TokenGrant] {
        try await look { _, ledger throws(ServerError) in
            ledger.tokens.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }

    /// What a token is for; nil if it counts no longer, or never did. The audit decides; a row that says something else is
    /// an attacker's.
    /// - Throws: ``ServerError`` `brokenChain` for such a row.
    func grant(of token: AccessToken) async throws(ServerError) -> TokenGrant? {
        let digest = token.digest
        return try await look { session, ledger throws(ServerError) in
            // All are compared, so that the time says nothing about which were close.
            let known = ledger.tokens.filter { $0.key.isSame(as: digest) }.first
            guard let grant = known?.value else { return nil }
            // A clock that was set back makes no token young.
            guard max(try session.now(), ledger.latestTime) <= grant.end else { return nil }
            let row = try session.run(
                "SELECT name, app, scopes, ends_at FROM token WHERE digest = $1", [.bytes(digest.bytes)]
            ).first
            let expected = StorageRow([
                .text(grant.name), .optional(grant.app?.description), .text(grant.scopeText), .integer(grant.end),
            ])
            guard row == expected else {
                throw ServerError(
                    .brokenChain, of: "token \(grant.name)", expected: "the row that the audit names",
                    found: "another, or none")
            }
            return grant
        }
    }
}
