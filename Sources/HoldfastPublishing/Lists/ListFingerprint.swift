package import Holdfast

/// The SHA-256 of a certificate as people write it: in hexadecimal as the reference tool accepts it, in Base64 as lists
/// contain it, or as a pin.
package struct ListFingerprint: Sendable, Hashable {
    package let pin: Pin

    /// - Throws: ``PublishingError`` `invalidInput` if the text has another form.
    package init(_ text: String) throws(PublishingError) {
        guard !text.hasPrefix("sha256/") else {
            throw PublishingError(
                .invalidInput, expected: "the SHA-256 of a certificate", found: "the pin of a key",
                remedy: "Lists pin certificates.")
        }
        let prefix = "cert-sha256/"
        if let pin = try? Pin(text.hasPrefix(prefix) ? text : prefix + text) {
            self.pin = pin
        } else if let octets = CanonicalBase64.decode(text.utf8),
            let pin = try? Pin(subject: .certificate, digest: octets)
        {
            self.pin = pin
        } else {
            throw PublishingError(
                .invalidInput,
                expected: "the SHA-256 of a certificate, 64 hexadecimal digits or 44 characters of Base64",
                found: text.quoted, remedy: "Copy it from holdfastctl pin or openssl x509 -fingerprint -sha256.")
        }
    }
}
