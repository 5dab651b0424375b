import ServerApprovals
import ServerFoundation

/// A submitted approval or rejection: `{"text","identity","signature"}`, with the text that the approver signed.
struct ApprovalBody: Sendable {
    let signed: SignedApproval
    let text: ApprovalText

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field. The signature is not verified here.
    init(_ fields: inout JSONFields) throws(ServerError) {
        let bytes = try fields.text("text")
        let identity = try fields.text("identity", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
        let signature = try fields.text("signature", "Base64 of 1 to \(PasskeyEvidence.limit) bytes") { text in
            Base64.decode(text).flatMap { (1...PasskeyEvidence.limit).contains($0.count) ? $0 : nil }
        }
        try fields.finish()
        text = try ApprovalText(bytes)
        signed = SignedApproval(
            text: bytes, signature: ApproverSignature(identity: identity, signature: signature))
    }
}
