import Foundation

@testable import HoldfastServer

/// People with passkeys at a server, as pages would serve them.
struct PasskeyDesk {
    static let visitor = Digest(of: "visitor".utf8)

    let world: World

    private var catalog: Catalog { world.catalog }

    static func token(_ seed: UInt64) -> AccessToken {
        var generator = SeededGenerator(seed: seed)
        return AccessToken(using: &generator)
    }

    func invitation(
        _ token: AccessToken, _ purpose: PasskeyPurpose = .signIn, for person: String = "dave",
        scope: TokenGrant.Scope = .read, until end: Int64? = nil
    ) async throws -> InvitationText {
        try InvitationText(
            server: Story.server, token: token.digest, person: person, purpose: purpose, scope: scope,
            approvers: try await catalog.approvers().head.digest, end: end ?? world.now + 86_400)
    }

    static func signed(_ invitation: InvitationText, by approvers: [Approver] = [.alice, .bob]) throws
        -> SignedInvitation
    {
        SignedInvitation(
            text: invitation.octets, signatures: try approvers.map { try $0.signature(of: invitation.octets) })
    }

    /// Invites somebody, who makes a passkey.
    @discardableResult
    func register(
        _ passkey: SoftPasskey, _ purpose: PasskeyPurpose = .signIn, seed: UInt64 = 41
    ) async throws -> RegisteredPasskey {
        let token = Self.token(seed)
        try await catalog.invite(Self.signed(try await invitation(token, purpose)))
        return try await answer(passkey, token)
    }

    /// Makes a passkey with an invitation that is there.
    @discardableResult
    func answer(_ passkey: SoftPasskey, _ token: AccessToken) async throws -> RegisteredPasskey {
        var generator = SystemRandomNumberGenerator()
        let challenge = try await catalog.beginRegistration(token, for: Self.visitor, using: &generator)
            .challenge
        return try await catalog.register(
            passkey.registration(for: challenge), token, at: SoftPasskey.party, by: Self.visitor)
    }

    func signIn(
        _ passkey: SoftPasskey, by visitor: Digest = Self.visitor,
        meanwhile: (PasskeyChallenge) async throws -> Void = { _ in }
    ) async throws -> AccessToken {
        var generator = SystemRandomNumberGenerator()
        let challenge = try await catalog.beginSignIn(for: Self.visitor, using: &generator)
        try await meanwhile(challenge)
        return try await catalog.signIn(
            passkey.assertion(for: challenge), with: passkey.id, by: visitor, using: &generator)
    }

    /// What somebody writes into the database who is not this server.
    func write(_ query: Query, _ values: [StorageValue] = []) async throws {
        try await world.engine.write { session throws(ServerError) in _ = try session.run(query, values) }
    }
}
