internal import Foundation

/// The two spellings of a pin, and the error for any other text.
enum PinText {
    static let keyPrefix = "sha256/"
    static let certificatePrefix = "cert-sha256/"

    private static let base64Length = 44
    private static let hexadecimalLength = 64
    private static let forms = "sha256/BASE64 or cert-sha256/HEX"
    private static let sha1Length = 20

    static func parse(_ text: String) throws(PinError) -> (Pin.Subject, [UInt8]) {
        guard !text.isEmpty else {
            throw PinError(.empty, expected: forms, found: "an empty text", remedy: "Give a pin.")
        }
        if text.utf8.starts(with: keyPrefix.utf8) {
            var base64 = text.utf8.dropFirst(keyPrefix.utf8.count)
            // curl writes two slashes. The first byte of a digest may itself be written `/`, so the length decides.
            if base64.first == UInt8(ascii: "/"), base64.count == base64Length + 1 { base64 = base64.dropFirst() }
            return (.publicKey, try decodeBase64(base64, in: text))
        }
        if text.utf8.starts(with: certificatePrefix.utf8) {
            return (.certificate, try decodeHexadecimal(text.utf8.dropFirst(certificatePrefix.utf8.count), in: text))
        }
        throw nearMiss(text)
    }

    private static func decodeBase64(_ base64: Substring.UTF8View, in text: String) throws(PinError) -> [UInt8] {
        if base64.count == base64Length, let octets = CanonicalBase64.decode(base64),
            octets.count == Pin.digestLength
        {
            return octets
        }
        if let spelling = PinSpelling(text) {
            throw PinError(
                .notBase64, expected: "\(base64Length) characters of padded Base64 after sha256/", found: text.quoted,
                remedy: spelling.remedy)
        }
        if let data = Data(base64Encoded: Data(base64)), data.count != Pin.digestLength {
            throw PinError(
                .wrongLength, expected: "\(Pin.digestLength) octets after sha256/",
                found: "\(data.count) octets in \(text.quoted)",
                remedy: "Hash the key with SHA-256 and give the whole digest.")
        }
        throw PinError(
            .notBase64, expected: "\(base64Length) characters of padded Base64 after sha256/", found: text.quoted,
            remedy: "Use the alphabet with + and /, keep the = at the end, and leave out white space.")
    }

    private static func decodeHexadecimal(_ hex: Substring.UTF8View, in text: String) throws(PinError) -> [UInt8] {
        if hex.count == base64Length, let octets = CanonicalBase64.decode(hex), octets.count == Pin.digestLength {
            return octets
        }
        guard let digits = hexadecimalDigits(of: hex) else {
            throw PinError(
                .notHexadecimal,
                expected: "\(hexadecimalLength) hexadecimal digits or \(base64Length) characters of Base64 after "
                    + certificatePrefix,
                found: text.quoted,
                remedy: PinSpelling(text)?.remedy
                    ?? "Write two digits an octet, with a colon between octets or none, or the padded Base64.")
        }
        guard digits.count == hexadecimalLength else {
            throw PinError(
                .wrongLength, expected: "\(hexadecimalLength) hexadecimal digits after cert-sha256/",
                found: "\(digits.count) digits in \(text.quoted)",
                remedy: "Give the whole SHA-256 of the certificate.")
        }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The values of the digits; nil if there is anything else, or if there are colons anywhere but between all bytes.
    /// A text with more than three characters per byte is rejected unread.
    private static func hexadecimalDigits(of text: Substring.UTF8View) -> [UInt8]? {
        guard text.count <= Pin.digestLength * 3 else { return nil }
        let hasColons = text.contains(UInt8(ascii: ":"))
        var digits: [UInt8] = []
        for (index, character) in text.enumerated() {
            if hasColons, index % 3 == 2 {
                guard character == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.value(of: character) else { return nil }
            digits.append(digit)
        }
        return hasColons && text.last == UInt8(ascii: ":") ? nil : digits
    }

    private static func nearMiss(_ text: String) -> PinError {
        if let look = resemblance(of: text) {
            return PinError(.unsupportedAlgorithm, expected: forms, found: look.found, remedy: look.remedy)
        }
        if let spelling = PinSpelling(text) {
            return PinError(
                spelling.hasPrefix ? .unsupportedAlgorithm : .missingPrefix, expected: forms,
                found: spelling.hasPrefix ? text.quoted : "a SHA-256 without a prefix", remedy: spelling.remedy)
        }
        return PinError(
            .unsupportedAlgorithm, expected: forms, found: text.quoted,
            remedy: "Hash with SHA-256 and write sha256/ before the Base64 of a key's hash, "
                + "or cert-sha256/ before the hexadecimal hash of a certificate.")
    }

    /// Guesses the meaning of a short text that is not a pin, if that is obvious.
    private static func resemblance(of text: String) -> (found: String, remedy: String)? {
        let octets = Array(text.utf8.prefix(256)), scheme = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        let rehash = "Make a new pin with SHA-256: holdfastctl pin HOST or FILE."
        if octets.starts(with: "-----BEGIN".utf8) {
            return ("PEM", "Make a pin of it: holdfastctl pin FILE.")
        }
        if octets.starts(with: "pin-sha256=".utf8) {
            return (
                "a pin of HTTP Public Key Pinning (RFC 7469): \(text.quoted)",
                PinSpelling(text)?.remedy ?? "Write sha256/ and what stands between its quotation marks."
            )
        }
        // ssh-keygen hashes a key in OpenSSH's own form, and leaves out the padding.
        if octets.starts(with: "SHA256:".utf8), octets.count == "SHA256:".utf8.count + base64Length - 1 {
            return ("what looks like a fingerprint of OpenSSH: \(text.quoted)", rehash)
        }
        if octets.starts(with: "https://".utf8) || octets.starts(with: "http://".utf8) {
            return ("a URL", "Make a pin of its host: holdfastctl pin HOST.")
        }
        for name in ["sha1", "sha-1", "sha384", "sha512", "md5"] where scheme.elementsEqual(name.utf8) {
            return ("a pin of another algorithm: \(text.quoted)", rehash)
        }
        guard text.utf8.count <= 128 else { return nil }
        let bare = text.utf8.filter { $0 != UInt8(ascii: ":") }
        let isHexadecimal = bare.allSatisfy { Hexadecimal.value(of: $0) != nil }
        let length = isHexadecimal ? bare.count / 2 : CanonicalBase64.decode(text.utf8)?.count
        return switch length {
        case sha1Length?: ("what looks like a SHA-1: \(text.quoted)", rehash)
        case 16? where isHexadecimal: ("what looks like an MD5: \(text.quoted)", rehash)
        default: nil
        }
    }
}
