public import struct Foundation.Date

/// One pin of a fingerprint list: a certificate, the name that it is for, and its end.
///
/// An entry proves nothing by itself. The ``FingerprintList``, or the response to a challenge, that contains it proves
/// that its signer vouched for it.
public struct FingerprintEntry: Sendable, Hashable {
    /// The name as it was signed: a common name, or a wildcard as a literal text.
    public let name: String
    /// The certificate.
    public let pin: Pin
    /// The last second for which the entry counts, in Unix time: the format's end is inclusive.
    package let expires: Int64
    /// The certificate's place in the path: 0 for the server's own, n for the n-th above it.
    public let depth: Int

    /// Makes an entry, for example to sign it.
    /// - Parameters:
    ///   - name: 1 to 256 bytes without control characters.
    ///   - pin: the pin of a certificate.
    ///   - end: the first instant at which it no longer counts; a fraction of a second is cut off.
    ///   - depth: 0 for the server's own certificate, n for the n-th above it, at most 16.
    /// - Throws: ``DocumentError`` `invalidValue`.
    public init(name: String, pin: Pin, until end: Date, depth: Int = 0) throws(DocumentError) {
        try self.init(name: name, pin: pin, expires: end.wholeSeconds - 1, depth: depth)
    }

    /// Makes an entry from the values in the formats.
    /// - Parameter expires: seconds of Unix time, 0 to 2^53 - 1.
    /// - Throws: ``DocumentError`` `invalidValue`.
    package init(name: String, pin: Pin, expires: Int64, depth: Int = 0) throws(DocumentError) {
        guard Self.isName(name) else { throw Self.invalid("name", Self.nameRule, name.quoted) }
        guard pin.subject == .certificate else { throw Self.invalid("fingerprint", "a certificate's pin", "a key's") }
        guard (0...DocumentLimits.greatestInteger).contains(expires) else {
            throw Self.invalid("expires", Self.expiryRule, "\(expires)")
        }
        guard (0...Int(DocumentLimits.certificateDepth)).contains(depth) else {
            throw Self.invalid("depth", Self.depthRule, "\(depth)")
        }
        self.name = name
        self.pin = pin
        self.expires = expires
        self.depth = depth
    }

    /// The names under which a host may have entries: its own, then the wildcard above its first label. The first name
    /// with usable entries decides.
    package static func names(for host: DialedHost) -> [String] {
        guard case .name(let name) = host.kind, let dot = name.firstIndex(of: "."),
            name[dot...].dropFirst().contains(".")
        else { return [host.name] }
        return [name, "*" + name[dot...]]
    }

    /// The first instant at which the entry no longer counts.
    public var end: Date { Date(end: endSecond) }

    /// ``end`` in Unix time.
    package var endSecond: Int64 { expires + 1 }

    /// The last second as a date, as the command prints it.
    package var expiryDate: Date { Date(wholeSeconds: expires) }

    /// The fingerprint as the published formats write it: Base64 of the SHA-256 of the certificate's DER.
    public var fingerprint: String { CanonicalBase64.encode(pin.digest) }

    /// The bytes that the signature of a static list covers: `name&fingerprint&expires` in UTF-8.
    public var signedBytes: [UInt8] { Array("\(name)&\(fingerprint)&\(expires)".utf8) }

    /// The bytes that scripts sign by mistake if they follow an example with the last two fields swapped. They are
    /// never accepted, and only explain a refusal.
    var swappedBytes: [UInt8] { Array("\(name)&\(expires)&\(fingerprint)".utf8) }

    static let nameRule = "1 to \(DocumentLimits.nameBytes) octets without control characters"
    static let expiryRule = "Unix seconds, not negative, of at most 53 bits"
    static let depthRule = "a depth from 0 to \(DocumentLimits.certificateDepth)"

    static func isName(_ text: String) -> Bool {
        (1...DocumentLimits.nameBytes).contains(text.utf8.count)
            && !text.unicodeScalars.contains { isControl($0) }
    }

    /// Whether a scalar is of the general category Cc, which never changes. Looking it up in Unicode's tables would
    /// take longer than the rest of reading.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    private static func invalid(_ field: String, _ expected: String, _ found: String) -> DocumentError {
        DocumentError(.invalidValue, field: field, expected: expected, found: found)
    }
}

/// An entry as it is in the document, with its unverified signature.
struct UnverifiedEntry: Sendable {
    let entry: FingerprintEntry
    let signature: [UInt8]?
}

extension StrictJSONReader {
    /// Reads the name of an entry, as it was signed.
    mutating func hostName() throws(DocumentError) -> String {
        let text = try string()
        guard FingerprintEntry.isName(text) else { throw error(.invalidValue, FingerprintEntry.nameRule, text.quoted) }
        return text
    }

    /// The entries of a list; nothing about them is verified.
    mutating func entries(atMost limit: Int) throws(DocumentError) -> [FingerprintEntry] {
        try list(atMost: limit, of: "entries") { reader throws(DocumentError) in try reader.entry().entry }
    }

    /// One entry of a list; nothing about it is verified.
    mutating func entry() throws(DocumentError) -> UnverifiedEntry {
        var name: String?
        var digest: [UInt8]?
        var expires: Int64?
        var depth: Int64 = 0
        var signature: [UInt8]?
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "name": name = try hostName()
            case "fingerprint":
                let octets = try base64()
                guard octets.count == Pin.digestLength else {
                    throw error(.invalidValue, "a SHA-256, \(Pin.digestLength) octets", "\(octets.count) octets")
                }
                digest = octets
            case "expires":
                let seconds = try integer()
                guard seconds >= 0 else { throw error(.invalidValue, FingerprintEntry.expiryRule, "\(seconds)") }
                expires = seconds
            case "depth":
                if takeNull() { continue }
                depth = try integer()
                guard (0...DocumentLimits.certificateDepth).contains(depth) else {
                    throw error(.invalidValue, FingerprintEntry.depthRule, "\(depth)")
                }
            case "signature":
                if takeNull() { continue }
                let octets = try base64()
                guard octets.count <= DocumentLimits.signatureBytes else {
                    throw error(.invalidValue, "a signature of P-256", "\(octets.count) octets")
                }
                signature = octets
            default: try skipValue()
            }
        }
        guard let name else { throw missing("name") }
        guard let digest else { throw missing("fingerprint") }
        guard let expires else { throw missing("expires") }
        do {
            let pin = try Pin(subject: .certificate, digest: digest)
            let entry = try FingerprintEntry(name: name, pin: pin, expires: expires, depth: Int(clamping: depth))
            return UnverifiedEntry(entry: entry, signature: signature)
        } catch {
            // All values were checked above, with errors that name the field.
            throw self.error(.invalidValue, "an entry", ForeignErrorText.found(error))
        }
    }

    func missing(_ field: String) -> DocumentError { error(.missingField, field: field, "the field", "none") }

    /// Bytes as their canonical Base64 (RFC 4648 3.5).
    mutating func base64() throws(DocumentError) -> [UInt8] {
        let text = try string()
        guard let octets = CanonicalBase64.decode(text.utf8) else {
            throw error(.notCanonicalBase64, "padded Base64 in its canonical form", text.quoted)
        }
        return octets
    }
}
