import Crypto
public import Holdfast

/// A key outside this process that signs pin lists and answers to challenges: in a token, a hardware security module or
/// a key service.
///
/// This value contains no secret.
public struct OutsideSigningKey: DocumentSigner {
    /// The public key. Every signature is verified with it before it is used.
    public let publicKey: DocumentPublicKey
    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// Makes a key from a closure that signs.
    /// - Parameters:
    ///   - publicKey: the public key.
    ///   - sign: receives the bytes to sign, and hashes them itself. It returns the ECDSA signature either in DER (RFC
    ///     3279 2.2.3), or as r and s concatenated, as PKCS #11 returns them. It may block.
    public init(publicKey: DocumentPublicKey, signing sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
        self.publicKey = publicKey
        self.sign = sign
    }

    /// Signs bytes with the external key.
    /// - Throws: ``SigningError`` `signerFailed`, with the closure's error, and `wrongSignature` if the returned
    ///   signature does not verify.
    public func signature(for message: [UInt8]) throws(SigningError) -> [UInt8] {
        let octets = try OutsideSignature.octets { try sign(message) }
        if publicKey.isValid(signature: octets, for: message) { return octets }
        if let signature = try? P256.Signing.ECDSASignature(rawRepresentation: octets) {
            let der = Array(signature.derRepresentation)
            if publicKey.isValid(signature: der, for: message) { return der }
        }
        throw OutsideSignature.wrong(octets)
    }
}

/// Helpers that all external keys share.
enum OutsideSignature {
    /// Calls a signing closure and returns its result.
    static func octets(_ sign: () throws -> [UInt8]) throws(SigningError) -> [UInt8] {
        do {
            return try sign()
        } catch let error as any HoldfastError {
            throw SigningError(.signerFailed, expected: error.expected, found: error.found, remedy: error.remedy)
        } catch {
            throw SigningError(.signerFailed, expected: "a signature", found: ForeignErrorText.found(error))
        }
    }

    static func wrong(_ octets: [UInt8]) -> SigningError {
        SigningError(
            .wrongSignature, expected: "a signature by the configured key",
            found: "\(TUFText.count(octets.count, "octet")) that do not verify with it")
    }
}
