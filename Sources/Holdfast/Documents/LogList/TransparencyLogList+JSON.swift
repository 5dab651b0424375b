public import struct Foundation.Data

extension TransparencyLogList {
    /// The maximum number of bytes of a list; Google's has some 100,000.
    package static let maximumBytes = 8 << 20

    /// Reads a log list in Google's schema, version 3, with a separate signature, as Google publishes `log_list.json`
    /// and `log_list.sig`.
    /// - Parameters:
    ///   - json: the bytes of the list as they were downloaded, at most 8 MiB.
    ///   - signature: over these bytes: RSA PKCS #1 v1.5 or ECDSA, with SHA-256 (ECDSA of P-384 with SHA-384), or
    ///     Ed25519.
    ///   - key: the key of the list's publisher; the application ships it.
    /// - Throws: ``DocumentError``: `invalidSignature`, `unsupportedAlgorithm`, or the error in the list.
    public init(verifying json: Data, signature: Data, key: SubjectPublicKeyInfo) throws(DocumentError) {
        let octets = Array(json)
        guard octets.count <= Self.maximumBytes else {
            throw DocumentError(
                .tooLarge, expected: "at most \(Self.maximumBytes) bytes", found: "\(octets.count)",
                remedy: LogListReader.remedy)
        }
        let verifier = VerificationKey(der: Array(key.der))
        let unsupported = verifier == nil ? "one that cannot be read" : verifier?.unsupportedName
        if let name = unsupported {
            throw DocumentError(
                .unsupportedAlgorithm, field: "key", expected: "a key of RSA, P-256, P-384 or Ed25519", found: name,
                remedy: "Configure the key with which the list's publisher signs.")
        }
        let isSigned = [.rsaPKCS1, .ecdsaP256, .ecdsaP384, .ed25519].contains { scheme in
            verifier?.verifies(Array(signature), over: octets, by: scheme) ?? false
        }
        guard isSigned else {
            throw DocumentError(
                .invalidSignature, expected: "a log list that the configured key signed", found: "another signature",
                remedy: "Download the list and its signature together again; if this happens again, do not use them.")
        }
        self = try LogListReader.read(octets)
    }

    /// Reads a log list in Google's schema, version 3, that needs no signature because the application ships it.
    /// - Parameter json: the bytes of the list, at most 8 MiB; never those of a download.
    /// - Throws: ``DocumentError`` that names the error in the list.
    public init(json: Data) throws(DocumentError) { self = try LogListReader.read(Array(json)) }
}
