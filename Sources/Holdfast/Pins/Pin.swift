internal import Crypto

/// The SHA-256 that a certificate must have to be accepted: of its public key, or of the whole certificate.
///
/// A key pin still matches after a certificate is renewed with the same key; a certificate pin does not. A key pin is
/// written `sha256/` with 44 characters of Base64, as OkHttp and Chromium write it (RFC 7469 2.4 for what is hashed); a
/// certificate pin is written `cert-sha256/` with 64 hexadecimal digits.
///
/// ```swift
/// let pin = try Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")
/// ```
public struct Pin: Hashable, Sendable {
    /// The part of a certificate that is hashed.
    public enum Subject: String, Hashable, Sendable, CaseIterable {
        /// The DER of the SubjectPublicKeyInfo as it is in the certificate.
        case publicKey
        /// The DER of the whole certificate.
        case certificate
    }

    /// Bytes of a SHA-256 digest.
    package static let digestLength = 32

    /// The part of the certificate that was hashed.
    public let subject: Subject
    private let words: DigestWords

    /// Takes a digest that was computed elsewhere.
    ///
    /// - Parameters:
    ///   - subject: the part of a certificate that was hashed.
    ///   - digest: its SHA-256, 32 bytes.
    /// - Throws: ``PinError`` `wrongLength`.
    public init(subject: Subject, digest: some Sequence<UInt8>) throws(PinError) {
        var count = 0
        var words = DigestWords()
        for octet in digest {
            guard count < Self.digestLength else {
                throw Self.wrongLength(found: "more than \(Self.digestLength)")
            }
            words.set(octet, at: count)
            count += 1
        }
        guard count == Self.digestLength else { throw Self.wrongLength(found: "\(count)") }
        self.subject = subject
        self.words = words
    }

    /// The pin of the key of a certificate.
    ///
    /// - Parameter certificateDER: the DER of one certificate.
    /// - Returns: a pin of the key as it is in the certificate.
    /// - Throws: ``CertificateError`` if no SubjectPublicKeyInfo is found in it.
    public static func publicKey(of certificateDER: [UInt8]) throws(CertificateError) -> Pin {
        let range = try SubjectPublicKeyInfo.range(inCertificate: certificateDER)
        return Pin(subject: .publicKey, hashing: certificateDER[range])
    }

    /// The pin of a key by itself, for example of a backup key that is not in a certificate yet.
    ///
    /// - Parameter spkiDER: the DER of its SubjectPublicKeyInfo.
    /// - Returns: the pin that a certificate with this key will satisfy.
    /// - Throws: ``CertificateError`` if it is not one.
    public static func publicKey(spkiDER: [UInt8]) throws(CertificateError) -> Pin {
        try SubjectPublicKeyInfo(der: spkiDER).sha256Pin
    }

    /// The pin of a certificate, whatever its bytes are.
    ///
    /// ``X509Certificate/pin(_:)`` refuses a certificate that servers present in several forms. If such a certificate
    /// is pinned with this function, policies refuse its server with `pinMismatch` and report the pin of its key.
    ///
    /// - Parameter der: the DER of one certificate.
    /// - Returns: a pin that only this certificate satisfies.
    public static func certificate(_ der: [UInt8]) -> Pin { Pin(subject: .certificate, hashing: der[...]) }

    /// Hashes bytes that are known to be a `subject`, without copying them.
    init(subject: Subject, hashing octets: ArraySlice<UInt8>) {
        self.subject = subject
        words = DigestWords(SHA256.hash(data: octets))
    }

    /// Consistent with equality. The subject is left out, because a key and a certificate never have the same digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(words) }

    /// The SHA-256, 32 bytes.
    public var digest: [UInt8] { (0..<Self.digestLength).map { words.octet(at: $0) } }

    private static func wrongLength(found: String) -> PinError {
        PinError(
            .wrongLength, expected: "a SHA-256 of \(digestLength) octets", found: "\(found) octets",
            remedy: "Hash the key or the certificate with SHA-256 and give the whole digest.")
    }
}

extension Pin: CustomStringConvertible {
    /// `sha256/` with Base64 for a key, `cert-sha256/` with lower-case hexadecimal for a certificate; ``init(_:)``
    /// reads both.
    public var description: String {
        switch subject {
        case .publicKey: PinText.keyPrefix + CanonicalBase64.encode(digest)
        case .certificate: PinText.certificatePrefix + Hexadecimal.encode(digest)
        }
    }

    /// Reads a pin.
    ///
    /// It accepts `sha256/` with the canonical, padded Base64 of 32 bytes, the same with two slashes as curl writes
    /// it, and `cert-sha256/` with 64 hexadecimal digits in either case, with or without colons between the bytes as
    /// openssl prints them, or with Base64 as above. It accepts nothing else: a slightly wrong pin would be noticed
    /// only when connections fail.
    ///
    /// - Parameter text: the pin, without white space around it.
    /// - Throws: ``PinError`` that states what to write instead.
    public init(_ text: String) throws(PinError) {
        let (subject, digest) = try PinText.parse(text)
        try self.init(subject: subject, digest: digest)
    }
}

extension X509Certificate {
    /// The pin of its public key.
    public var publicKeyPin: Pin { Pin(subject: .publicKey, hashing: subjectPublicKeyInfo) }

    /// The pin of the whole certificate, whatever its bytes are; ``pin(_:)`` makes pins to publish or to ship.
    public var certificatePin: Pin { Pin.certificate(der) }

    /// Whether it is a Merkle Tree Certificate (id-alg-mtcProof, draft-ietf-plants-merkle-tree-certs). A server
    /// presents the same certificate with different proofs in place of a signature, and so with different bytes.
    public var isMerkleTreeCertificate: Bool { signatureAlgorithm == .merkleTreeProof }

    /// A pin of its key, or of the whole certificate if the server always presents it with the same bytes.
    /// - Parameter subject: the part to pin.
    /// - Throws: ``PinError`` `merkleTreeCertificate`.
    public func pin(_ subject: Pin.Subject) throws(PinError) -> Pin {
        guard subject == .certificate else { return publicKeyPin }
        guard !isMerkleTreeCertificate else {
            throw PinError(
                .merkleTreeCertificate, expected: "a certificate that has one form",
                found: "a Merkle Tree Certificate of \(self.subject), which servers present in several forms",
                remedy: "Pin its key: \(publicKeyPin).")
        }
        return certificatePin
    }
}

extension SubjectPublicKeyInfo {
    /// The pin of this key: the SHA-256 of ``der``.
    public var sha256Pin: Pin { Pin(subject: .publicKey, hashing: der) }
}

/// 32 bytes in four words, so that a pin in a set needs no allocation.
private struct DigestWords: Hashable, Sendable {
    private var first: UInt64 = 0
    private var second: UInt64 = 0
    private var third: UInt64 = 0
    private var fourth: UInt64 = 0

    init() {}

    init(_ digest: SHA256.Digest) {
        let words = unsafe digest.withUnsafeBytes { buffer in
            // A SHA-256 digest of swift-crypto is 32 bytes by its type.
            unsafe (
                buffer.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                buffer.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                buffer.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
                buffer.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
            )
        }
        first = UInt64(bigEndian: words.0)
        second = UInt64(bigEndian: words.1)
        third = UInt64(bigEndian: words.2)
        fourth = UInt64(bigEndian: words.3)
    }

    /// A digest is practically random, so one word of it is a sufficient hash.
    func hash(into hasher: inout Hasher) { hasher.combine(first) }

    mutating func set(_ octet: UInt8, at index: Int) {
        let bits = UInt64(octet) << UInt64((7 - index % 8) * 8)
        switch index / 8 {
        case 0: first |= bits
        case 1: second |= bits
        case 2: third |= bits
        default: fourth |= bits
        }
    }

    func octet(at index: Int) -> UInt8 {
        let word =
            switch index / 8 {
            case 0: first
            case 1: second
            case 2: third
            default: fourth
            }
        return UInt8(truncatingIfNeeded: word >> UInt64((7 - index % 8) * 8))
    }
}
