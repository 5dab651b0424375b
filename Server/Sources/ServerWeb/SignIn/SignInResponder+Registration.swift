import NIOHTTP1
import ServerApprovals
package import ServerFoundation
package import ServerHTTP
import ServerModel
import ServerStore

/// The registration of passkeys by invited people.
extension SignInResponder {
    package func beginRegistration(_ id: Digest, _ body: inout SignInBody) async throws(AdministrationError)
        -> ListenerAnswer
    {
        let token = try reading { () throws(ServerError) in
            let token = try body.token()
            try body.finish()
            return token
        }
        try Self.require(token, id)
        let asked = try await refusing { [catalog] () async throws(ServerError) in
            var generator = SystemRandomNumberGenerator()
            return try await catalog.beginRegistration(token, using: &generator)
        }
        let invitation = asked.invitation
        return asking(
            asked.ceremony.challenge,
            [
                // Use one user id per invitation: authenticators keep one passkey per user id.
                "user": .text(Base64URL.encode(invitation.token.bytes)), "person": .text(invitation.person),
                "purpose": .text(invitation.purpose.rawValue), "until": AdministrationView.time(invitation.end),
                "algorithms": .array(COSEKey.Algorithm.allCases.map { .integer($0.rawValue) }),
            ], keeping: asked.ceremony)
    }

    func finishRegistration(
        _ id: Digest, _ body: inout SignInBody, _ request: ListenerRequest
    ) async throws(AdministrationError) -> ListenerAnswer {
        let ceremony = try ceremony(request)
        let (token, registration) = try reading { () throws(ServerError) in
            let read = (try body.token(), try body.registration())
            try body.finish()
            return read
        }
        try Self.require(token, id)
        let passkey = try await refusing { [catalog, party] () async throws(ServerError) in
            try await catalog.register(registration, token, at: party, answering: ceremony)
        }
        return AdministrationResponder.json(
            [
                ("passkey", .text("\(passkey.credential.key.identity)")), ("person", .text(passkey.person)),
                ("purpose", .text(passkey.credential.purpose.rawValue)),
            ], .created, headers: [PageSessions.forgetting(PageSessions.visitorCookie)])
    }

    /// Requires that the token belongs to the invitation of the page.
    private static func require(_ token: AccessToken, _ id: Digest) throws(AdministrationError) {
        guard token.digest.isSame(as: id) else {
            throw AdministrationError(
                ServerError(
                    .notFound, of: "invitation", expected: "the token of an unused invitation",
                    found: "another", remedy: "Open the whole link of the invitation, or ask for a new one."))
        }
    }
}
