import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// The standard input of a signer program (`holdfast-signing-request-v1`): the bytes to sign, and everything that the
/// program needs to verify by itself that people approved them. `docs/formats.md` lists the fields.
///
/// The approvals are those that were valid when the content was published. Later signatures for the same content carry
/// the same approvals, so a program that verified them in time recognizes the content by its digest.
struct SigningRequest: Sendable {
    /// The kind of the bytes to sign.
    enum Use: String, Sendable, Hashable, CaseIterable {
        /// One entry of a fingerprint list.
        case list
        /// An answer to a challenge: the challenge, `&` and the body.
        case challenge
        /// The signed attributes of a trust server's document.
        case trustServer = "trust-server"
        /// The `signed` part of a repository's snapshot.
        case snapshot
        /// That of its timestamp.
        case timestamp
    }

    /// The key.
    let key: SealedKey.Place
    /// DER of its SubjectPublicKeyInfo.
    let publicKey: [UInt8]
    let use: Use
    /// The approved content.
    let content: Content
    let approved: ApprovedSubject
    /// The bytes to sign.
    let message: [UInt8]
    /// The document whose digest the message contains; nil if the message is complete by itself.
    let document: [UInt8]?

    private static let name = "holdfast-signing-request-v1"

    /// The canonical bytes.
    var bytes: [UInt8] {
        let evidence = approved.evidence
        var members: [String: CanonicalJSON] = [
            "format": .text(Self.name), "server": .text("\(key.server)"), "app": .text("\(key.app)"),
            "key": .text(key.id), "purpose": .text(key.purpose.rawValue),
            "publicKey": .text(Base64.encode(publicKey)), "use": .text(use.rawValue),
            "message": .text(Base64.encode(message)), "content": .text(Base64.encode(content.bytes)),
            "approvals": .array(
                evidence.approvals.map { approval in
                    .object([
                        "text": .text(Base64.encode(approval.text)),
                        "identity": .text("\(approval.signature.identity)"),
                        "signature": .text(Base64.encode(approval.signature.signature)),
                    ])
                }),
            "approvers": .array(
                evidence.approvers.map { statement in
                    .object([
                        "text": .text(Base64.encode(statement.text)),
                        "signatures": .array(
                            statement.signatures.map { signature in
                                .object([
                                    "identity": .text("\(signature.identity)"),
                                    "signature": .text(Base64.encode(signature.signature)),
                                ])
                            }),
                    ])
                }),
        ]
        if let document { members["document"] = .text(Base64.encode(document)) }
        if let proposer = evidence.proposer { members["proposer"] = .text("\(proposer)") }
        return CanonicalJSON.object(members).bytes
    }
}
