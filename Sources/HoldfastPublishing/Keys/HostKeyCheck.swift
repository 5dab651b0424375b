public import Holdfast
import HoldfastSigning

/// The check of a host's own key that has no certificate yet: clients accept keys of its kind and size, and its pin is
/// not one of the placeholders in public configurations. Without the check, an unusable backup would be noticed only
/// when it is needed.
///
/// ```swift
/// try HostKeyCheck.check(key: spki, named: "backup.pem")
/// ```
/// It performs no I/O.
public enum HostKeyCheck {
    /// Checks a key.
    /// - Parameters:
    ///   - der: the DER of its SubjectPublicKeyInfo.
    ///   - name: the name in errors, such as a file.
    /// - Throws: ``HostCheckError`` `unreadable`, `unsupportedKey` or `weakKey`.
    public static func check(key der: [UInt8], named name: String) throws(HostCheckError) {
        let key: CertificatePublicKey
        do {
            key = try CertificatePublicKey(0..<der.count, of: der)
        } catch {
            throw HostCheckError(
                .unreadable, name: name, expected: "a public key, a SubjectPublicKeyInfo in DER", found: "other bytes")
        }
        if let refusal = key.kind.refusal {
            throw HostCheckError(
                refusal.isWeak ? .weakKey : .unsupportedKey, name: name, expected: refusal.expected,
                found: "\(refusal.found), which clients refuse")
        }
        guard key.isUsable else {
            throw HostCheckError(
                .unsupportedKey, name: name, expected: "a key that signatures can be verified with",
                found: "\(key.kind) with numbers that are no key, such as a point that is not on the curve")
        }
    }

    /// Checks a certificate request (PKCS #10, RFC 2986): its key, its signature with this key, and its names, which
    /// must include the host if there are any. The signature proves only that the requester has the key, not that it is
    /// the right key.
    /// - Parameters:
    ///   - der: the DER of the request.
    ///   - host: the host that the key is for; nil if it is unknown.
    ///   - name: the name in errors, such as a file.
    /// - Returns: the DER of the key's SubjectPublicKeyInfo.
    /// - Throws: ``HostCheckError``.
    public static func check(
        request der: [UInt8], for host: DialedHost?, named name: String
    ) throws(HostCheckError) -> [UInt8] {
        let request: CertificateRequest
        do throws(CertificateError) {
            request = try CertificateRequest(der: der)
        } catch {
            throw HostCheckError(
                .unreadable, name: name, expected: "a certificate request (PKCS #10): \(error.expected)",
                found: error.found)
        }
        let key = Array(request.subjectPublicKeyInfo.der)
        try check(key: key, named: name)
        try check(request.signatureCheck, named: name)
        if let host { try check(namesOfRequest: request.dnsNames, for: host, named: name) }
        return key
    }

    /// Requires that a request is for a host if it names any.
    static func check(namesOfRequest names: [String], for host: DialedHost, named name: String) throws(HostCheckError) {
        let patterns = names.compactMap { try? HostPattern($0) }
        guard names.isEmpty || patterns.contains(where: { $0.matches(host) }) else {
            throw HostCheckError(
                .nameMismatch, name: name, expected: "a certificate request for \(host.name.quoted)",
                found: "one for \(names.prefix(10).map(\.quoted).joined(separator: ", "))",
                remedy: "Make a request that names the host, or none, with the same key.")
        }
    }

    /// Requires that a request is signed with its own key. A signature that cannot be verified proves nothing.
    static func check(_ signature: SignatureCheck, named name: String) throws(HostCheckError) {
        switch signature {
        case .valid: break
        case .invalid: throw unsigned(name, "a signature that does not verify under it")
        case .unsupported(let algorithm): throw unsigned(name, "a signature with \(algorithm), which is not supported")
        }
    }

    private static func unsigned(_ name: String, _ found: String) -> HostCheckError {
        HostCheckError(
            .unsignedRequest, name: name, expected: "a certificate request that is signed with its own key",
            found: found)
    }

    /// Checks that a pin is not a placeholder.
    /// - Parameters:
    ///   - pin: of a key or a certificate.
    ///   - name: the name in errors; nil for the pin itself.
    /// - Throws: ``HostCheckError`` `placeholder`.
    public static func check(_ pin: Pin, named name: String? = nil) throws(HostCheckError) {
        guard let placeholder = PlaceholderDigest(pin.digest) else { return }
        throw HostCheckError(
            .placeholder, name: name ?? pin.description,
            expected: pin.subject == .publicKey ? "the SHA-256 of a key" : "the SHA-256 of a certificate",
            found: "\(name == nil ? "" : "\(pin), ")\(placeholder.text), a placeholder: no key has it")
    }
}
