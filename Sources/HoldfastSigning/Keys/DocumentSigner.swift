public import Holdfast

/// A signer of pin lists and answers to challenges: a ``SigningKey``, or an ``OutsideSigningKey`` in a token, a
/// hardware security module or a key service.
public protocol DocumentSigner: Sendable {
    /// The public key. Stores are configured with its `base64`.
    var publicKey: DocumentPublicKey { get throws(SigningError) }

    /// Signs bytes with ECDSA on P-256 and SHA-256.
    /// - Returns: the DER of the signature (RFC 3279 2.2.3).
    /// - Throws: ``SigningError``.
    func signature(for message: [UInt8]) throws(SigningError) -> [UInt8]
}

extension SigningKey: DocumentSigner {}
