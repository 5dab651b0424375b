package import ServerApprovals
package import ServerFoundation
package import ServerModel

extension Catalog {
    /// Maximum number of tokens.
    package static let maximumTokenCount = 1_000

    /// Makes a token.
    /// - Parameters:
    ///   - grant: its permissions.
    ///   - actor: the person who makes it, for the audit.
    ///   - generator: generates it.
    /// - Returns: the token, of which only the digest is stored.
    /// - Throws: ``ServerError`` `notFound` for an app or a host that does not exist, `constraint` for a name that
    ///   another token has, `invalidValue` for an end in the past.
    package func add(
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
            // Existing rows with this name or digest can only be unknown to the audit.
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
    package func revokeToken(_ name: String, by actor: String) async throws(ServerError) {
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

    /// All tokens that were made and not revoked, including expired ones, sorted by name.
    /// - Throws: ``ServerError``.
    package func tokens() async throws(ServerError) -> [TokenGrant] {
        try await look { _, ledger throws(ServerError) in
            ledger.tokens.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }

    /// The permissions of a token; nil if it is not valid or never was. The audit decides; a row that differs from it
    /// comes from an attacker.
    /// - Throws: ``ServerError`` `brokenChain` for such a row.
    package func grant(of token: AccessToken) async throws(ServerError) -> TokenGrant? {
        let digest = token.digest
        return try await look { session, ledger throws(ServerError) in
            // Compare all, so that the time reveals nothing about close matches.
            let known = ledger.tokens.filter { $0.key.isSame(as: digest) }.first
            guard let grant = known?.value else { return nil }
            // Turning the clock back must not make a token valid again.
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
