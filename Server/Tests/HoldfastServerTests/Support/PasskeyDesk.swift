import Foundation

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// People with passkeys at a server, as pages would serve them.
struct PasskeyDesk {
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
            text: invitation.bytes, signatures: try approvers.map { try $0.signature(of: invitation.bytes) })
    }

    /// Invites a person, who makes a passkey.
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
        let ceremony = try await catalog.beginRegistration(token, using: &generator).ceremony
        return try await catalog.register(
            passkey.registration(for: ceremony.challenge), token, at: SoftPasskey.party, answering: ceremony)
    }

    func signIn(
        _ passkey: SoftPasskey, meanwhile: (PasskeyCeremony) async throws -> Void = { _ in }
    ) async throws -> AccessToken {
        var generator = SystemRandomNumberGenerator()
        let ceremony = try await catalog.beginSignIn(using: &generator)
        try await meanwhile(ceremony)
        return try await catalog.signIn(
            passkey.assertion(for: ceremony.challenge), with: passkey.id, answering: ceremony, using: &generator)
    }

    /// Writes into the database directly, not through the server.
    func write(_ query: Query, _ values: [StorageValue] = []) async throws {
        try await world.engine.write { session throws(ServerError) in _ = try session.run(query, values) }
    }
}
