/// Who signed a text, and how.
public struct ApproverSignature: Sendable, Hashable {
    /// The digest of the signer's key.
    public let identity: Digest
    /// 64 bytes for Ed25519; the DER of an ECDSA signature; for a passkey the bytes of its ``PasskeyEvidence``.
    public let signature: [UInt8]

    /// Names a signer.
    public init(identity: Digest, signature: [UInt8]) {
        self.identity = identity
        self.signature = signature
    }

    /// Takes what a passkey signed.
    init(_ evidence: PasskeyEvidence) {
        self.init(identity: evidence.key.identity, signature: evidence.bytes)
    }
}

/// An approval or a rejection, with the signature of one approver.
public struct SignedApproval: Sendable, Hashable {
    /// The bytes of the ``ApprovalText``.
    public let text: [UInt8]
    /// The approver.
    public let signature: ApproverSignature

    /// Takes what an approver sent; nothing is verified yet.
    public init(text: [UInt8], signature: ApproverSignature) {
        self.text = text
        self.signature = signature
    }
}

/// A statement of approvers with its signatures; nothing is verified yet.
public struct SignedApprovers: Sendable, Hashable {
    /// The bytes of the ``ApproverStatement``.
    public let text: [UInt8]
    /// The signatures, in any order.
    public let signatures: [ApproverSignature]

    /// Takes what is stored.
    public init(text: [UInt8], signatures: [ApproverSignature]) {
        self.text = text
        self.signatures = signatures
    }
}
