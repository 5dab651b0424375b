/// A transparency log's promise to include a certificate (RFC 6962 3.2), as embedded in the certificate; reading
/// verifies nothing.
struct SignedCertificateTimestamp: Sendable, Hashable {
    /// The identifier of the log: SHA-256 of its key, 32 bytes (RFC 6962 3.2).
    let logIdentifier: ArraySlice<UInt8>
    /// The time at which the log issued it, in milliseconds since 1970.
    let milliseconds: UInt64
    /// CtExtensions without their length. They are signed, whatever they contain: tiled logs put an index there.
    let extensions: ArraySlice<UInt8>
    /// SignatureAndHashAlgorithm (RFC 5246 7.4.1.4.1).
    let algorithm: Algorithm
    let signature: ArraySlice<UInt8>

    /// The algorithms of RFC 6962 2.1.4: SHA-256 with either.
    enum Algorithm: Sendable, Hashable {
        case ecdsa, rsa
        /// Another algorithm, by its name.
        case other(String)
    }

    /// One element of a list. An unreadable one does not affect the others.
    enum Reading: Sendable, Hashable {
        case timestamp(SignedCertificateTimestamp)
        /// A timestamp of a version other than 1.
        case otherVersion
        case malformed
    }

    /// `1.3.6.1.4.1.11129.2.4.2`, the extension of a certificate that holds a list (RFC 6962 3.3).
    static let extensionIdentifier: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x04, 0x02]

    /// Reads a SignedCertificateTimestampList (RFC 6962 3.3).
    /// - Parameter value: the value of the extension: an OCTET STRING around the list.
    /// - Returns: each element; empty for an empty list, which RFC 6962 forbids and which proves nothing.
    static func readAll(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) -> [Reading] {
        let content = try DERReader.only(DERTag.octetString, of: bytes, in: value).content
        var whole = TLSVectorReader(bytes[content])
        guard var list = whole.vector().map(TLSVectorReader.init), whole.isAtEnd else {
            throw DERError(.invalidValue("a list of timestamps whose length is not its own"), at: content.lowerBound)
        }
        var readings: [Reading] = []
        while !list.isAtEnd {
            guard let element = list.vector(), !element.isEmpty else {
                throw DERError(.invalidValue("a timestamp that is longer than its list, or empty"), at: list.position)
            }
            readings.append(read(element))
        }
        return readings
    }

    private static func read(_ element: ArraySlice<UInt8>) -> Reading {
        // Version 1 is encoded as 0.
        guard element.first == 0 else { return .otherVersion }
        var fields = TLSVectorReader(element.dropFirst())
        guard let identifier = fields.octets(32), let time = fields.octets(8), let extensions = fields.vector(),
            let algorithm = fields.octets(2), let signature = fields.vector(), fields.isAtEnd
        else { return .malformed }
        return .timestamp(
            SignedCertificateTimestamp(
                logIdentifier: identifier, milliseconds: time.reduce(0) { $0 << 8 | UInt64($1) },
                extensions: extensions, algorithm: Algorithm(algorithm), signature: signature))
    }

    /// The content that the log signed (RFC 6962 3.2).
    func signedContent(of precertificate: Precertificate) -> [UInt8] {
        var content: [UInt8] = [0, 0]
        content.reserveCapacity(64 + precertificate.toBeSigned.count + extensions.count)
        for shift in stride(from: 56, through: 0, by: -8) {
            content.append(UInt8(truncatingIfNeeded: milliseconds >> UInt64(shift)))
        }
        content += [0, 1]
        content += precertificate.issuerKeyHash
        let length = precertificate.toBeSigned.count
        for shift in [16, 8, 0] { content.append(UInt8(truncatingIfNeeded: length >> shift)) }
        content += precertificate.toBeSigned
        for shift in [8, 0] { content.append(UInt8(truncatingIfNeeded: extensions.count >> shift)) }
        content += extensions
        return content
    }
}

extension SignedCertificateTimestamp.Algorithm {
    fileprivate init(_ octets: ArraySlice<UInt8>) {
        switch (octets.first, octets.last) {
        case (4, 3): self = .ecdsa
        case (4, 1): self = .rsa
        case (9, 4): self = .other("ML-DSA-44")
        case (9, 5): self = .other("ML-DSA-65")
        case (9, 6): self = .other("ML-DSA-87")
        case (8, 7): self = .other("Ed25519")
        case (8, 8): self = .other("Ed448")
        case (let digest?, let signature?):
            let digestName = Self.digests[digest] ?? "digest \(digest)"
            self = .other("\(Self.signatures[signature] ?? "signature algorithm \(signature)") with \(digestName)")
        default: self = .other("an unreadable algorithm")
        }
    }

    /// HashAlgorithm and SignatureAlgorithm (RFC 5246 7.4.1.4.1).
    private static let digests: [UInt8: String] = [
        1: "MD5", 2: "SHA-1", 3: "SHA-224", 4: "SHA-256", 5: "SHA-384", 6: "SHA-512",
    ]
    private static let signatures: [UInt8: String] = [1: "RSA PKCS#1 v1.5", 2: "DSA", 3: "ECDSA"]
}

/// A cursor over the presentation language of TLS (RFC 8446 3); nil if the bytes end too soon.
private struct TLSVectorReader {
    private var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { rest = octets }

    var isAtEnd: Bool { rest.isEmpty }
    var position: Int { rest.startIndex }

    mutating func octets(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        let octets = rest.prefix(count)
        rest = rest.dropFirst(count)
        return octets
    }

    /// A vector of at most 2^16-1 bytes, without its length.
    mutating func vector() -> ArraySlice<UInt8>? { octets(2).flatMap { octets($0.reduce(0) { $0 << 8 | Int($1) }) } }
}
