import SwiftASN1

/// Finds the one private key of a PEM file.
enum PrivateKeyPEM {
    private static let maximumBytes = 65_536

    /// - Throws: ``SigningError`` `notAKeyFile`, or `unsupportedEncryption` for OpenSSL's own way of before PKCS #8.
    static func document(in pem: String) throws(SigningError) -> PEMDocument {
        // Headers inside the block (RFC 1421 4.6.1.1), which are not PEM as RFC 7468 has it.
        if pem.utf8.count <= maximumBytes, pem.contains("Proc-Type: 4,ENCRYPTED") {
            throw SigningError(
                .unsupportedEncryption, expected: "PKCS #8 (BEGIN ENCRYPTED PRIVATE KEY)",
                found: "the older encryption of OpenSSL (Proc-Type: 4,ENCRYPTED)")
        }
        // `openssl ecparam -genkey` writes the parameters in front, which the key has as well (RFC 5915 3).
        guard pem.utf8.count <= maximumBytes,
            let documents = try? PEMDocument.parseMultiple(pemString: pem).filter({
                $0.discriminator != "EC PARAMETERS"
            }), let document = documents.first, documents.count == 1
        else { throw SigningError(.notAKeyFile, expected: "one private key in PEM", found: "something else") }
        return document
    }
}
