/// A SHA-256 as other tools write it, used to state in a remedy how the pin is written. It never makes a pin: a text
/// that is nearly a pin may be the hash of something else.
struct PinSpelling {
    private static let maximumBytes = 256
    /// The prefixes of other tools, in lower case, and what those tools hash; nil if that is not known.
    private static let prefixes: [(text: String, subject: Pin.Subject?)] = [
        ("cert-sha256", .certificate), ("pin-sha256", .publicKey), ("sha256 fingerprint", .certificate),
        ("sha-256 fingerprint", .certificate), ("sha256", nil), ("sha-256", nil),
    ]
    private static let separators = Array("/:= \"'".utf8)
    private static let surroundings = Array(" \t\r\n\"',;".utf8)

    private let digest: [UInt8]
    /// The part of a certificate that was hashed, if the text specifies it.
    private let subject: Pin.Subject?
    /// Whether the digest has a prefix.
    let hasPrefix: Bool

    /// - Parameter text: a text; the result is nil if it is not a SHA-256 in a known spelling.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        var octets = text.utf8.drop { Self.surroundings.contains($0) }
        while let last = octets.last, Self.surroundings.contains(last) { octets.removeLast() }
        let lower = octets.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard let prefix = Self.prefixes.first(where: { lower.starts(with: $0.text.utf8) }) else {
            guard let found = Self.digest(of: octets) else { return nil }
            (digest, subject, hasPrefix) = (found.digest, nil, octets.count != text.utf8.count)
            return
        }
        // Base64 may itself begin with a slash, so remove as few separators as possible.
        var rest = octets.dropFirst(prefix.text.utf8.count)
        while let first = rest.first, Self.separators.contains(first) {
            rest = rest.dropFirst()
            guard let found = Self.digest(of: rest) else { continue }
            digest = found.digest
            // Tools write a key in Base64 after `sha256/`. In hexadecimal it may be the hash of a key or of a
            // certificate.
            subject = prefix.subject ?? (found.isBase64 ? .publicKey : nil)
            hasPrefix = true
            return
        }
        return nil
    }

    private static func digest(of octets: Substring.UTF8View) -> (digest: [UInt8], isBase64: Bool)? {
        var digits = octets.filter { !":- ".utf8.contains($0) }
        if digits.starts(with: "0x".utf8) { digits.removeFirst(2) }
        let values = digits.compactMap(Hexadecimal.value)
        if values.count == Pin.digestLength * 2, digits.count == values.count {
            return (stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }, false)
        }
        var base64 = octets.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? 0x2F : $0 }
        while base64.last == UInt8(ascii: "=") { base64.removeLast() }
        guard let found = CanonicalBase64.decode(base64 + [UInt8(ascii: "=")]), found.count == Pin.digestLength else {
            return nil
        }
        return (found, true)
    }

    /// The pin to write instead. If the text does not specify what was hashed, the reader must choose.
    var remedy: String {
        let key = PinText.keyPrefix + CanonicalBase64.encode(digest)
        let certificate = PinText.certificatePrefix + Hexadecimal.encode(digest)
        return switch subject {
        case .publicKey: "Write \(key)."
        case .certificate: "Write \(certificate)."
        case nil:
            "If it is the SHA-256 of a key's SubjectPublicKeyInfo, write \(key); if that of a certificate, write "
                + "\(certificate)."
        }
    }
}
