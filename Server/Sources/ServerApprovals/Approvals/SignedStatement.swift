package import ServerFoundation

/// The signature of one approver of a text.
package struct ApproverSignature: Sendable, Hashable {
    /// The digest of the signer's key.
    package let identity: Digest
    /// 64 bytes for Ed25519; the DER of an ECDSA signature; for a passkey the bytes of its ``PasskeyEvidence``.
    package let signature: [UInt8]

    /// Names a signer.
    package init(identity: Digest, signature: [UInt8]) {
        self.identity = identity
        self.signature = signature
    }

    /// Makes one from the evidence of a passkey.
    package init(_ evidence: PasskeyEvidence) {
        self.init(identity: evidence.key.identity, signature: evidence.bytes)
    }
}

/// An approval or a rejection, with the signature of one approver.
package struct SignedApproval: Sendable, Hashable {
    /// The bytes of the ``ApprovalText``.
    package let text: [UInt8]
    /// The approver.
    package let signature: ApproverSignature

    /// Makes one from received bytes; nothing is verified yet.
    package init(text: [UInt8], signature: ApproverSignature) {
        self.text = text
        self.signature = signature
    }
}

/// A statement of approvers with its signatures; nothing is verified yet.
package struct SignedApprovers: Sendable, Hashable {
    /// The bytes of the ``ApproverStatement``.
    package let text: [UInt8]
    /// The signatures, in any order.
    package let signatures: [ApproverSignature]

    /// Makes one from stored bytes.
    package init(text: [UInt8], signatures: [ApproverSignature]) {
        self.text = text
        self.signatures = signatures
    }
}
