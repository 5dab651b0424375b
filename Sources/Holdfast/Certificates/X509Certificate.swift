public import struct Foundation.Date

/// A certificate (RFC 5280 4.1), read only as far as its outer fields; rules decode the rest.
///
/// Reading checks the structure of the DER, that both signature algorithms agree and that no extension occurs twice. It
/// verifies nothing: use ``PathValidator`` for that.
public struct X509Certificate: Sendable {
    /// The positions of the fields in the DER, as ranges, so that a certificate costs only a handful of allocations.
    final class Layout: Sendable {
        let der: [UInt8]
        let toBeSigned: Range<Int>
        let version: Int
        let serialNumber: Range<Int>
        let signatureAlgorithm: CertificateSignatureAlgorithm
        let issuer: Range<Int>
        let notBefore: Int64
        /// The first second after its validity, which includes notAfter (RFC 5280 4.1.2.5).
        let end: Int64
        /// Whether both times are UTCTime through 2049 and GeneralizedTime from 2050 on (RFC 5280 4.1.2.5).
        let hasProfiledTimes: Bool
        let subject: Range<Int>
        let subjectPublicKeyInfo: Range<Int>
        let signature: Range<Int>
        let extensions: [CertificateExtension]
        /// The key, read once because every path uses it several times. A certificate with an unreadable key is
        /// unusable only in paths.
        let publicKey: Result<CertificatePublicKey, DERError>

        init(_ der: [UInt8]) throws(CertificateError) {
            try CertificateLimits.check(der, field: "certificate")
            var field = "certificate"
            var extensionList: DERReader.Element?
            let signatures: (inner: Range<Int>, outer: Range<Int>)
            do throws(DERError) {
                var certificate = try DERReader(sequence: der)
                let toBeSigned = try certificate.next(DERTag.sequence)
                self.toBeSigned = toBeSigned.encoded
                var fields = certificate.inside(toBeSigned)

                field = "version"
                version = try Self.version(try fields.nextIfPresent(DERTag.contextConstructed(0)), of: der)
                field = "serialNumber"
                serialNumber = try fields.next(DERTag.integer).content
                guard !serialNumber.isEmpty else {
                    throw DERError(.invalidValue("an empty INTEGER"), at: serialNumber.lowerBound)
                }
                field = "signature"
                let inner = try fields.next(DERTag.sequence)
                signatureAlgorithm = try CertificateSignatureAlgorithm(inner.content, of: der)
                field = "issuer"
                issuer = try fields.next(DERTag.sequence).encoded
                field = "validity"
                var validity = fields.inside(try fields.next(DERTag.sequence))
                let (first, last) = (try validity.next(), try validity.next())
                notBefore = try ASN1Time.read(first, of: der)
                let notAfter = try ASN1Time.read(last, of: der)
                end = notAfter + 1
                hasProfiledTimes =
                    ASN1Time.isProfiled(notBefore, as: first.tag) && ASN1Time.isProfiled(notAfter, as: last.tag)
                try validity.finish()
                field = "subject"
                subject = try fields.next(DERTag.sequence).encoded
                field = "subjectPublicKeyInfo"
                subjectPublicKeyInfo = try fields.next(DERTag.sequence).encoded
                field = "unique identifiers"
                _ = try fields.nextIfPresent(DERTag.context(1))
                _ = try fields.nextIfPresent(DERTag.context(2))
                field = "extensions"
                extensionList = try fields.nextIfPresent(DERTag.contextConstructed(3))
                try fields.finish()

                field = "signatureAlgorithm"
                let outerAlgorithm = try certificate.next(DERTag.sequence)
                signatures = (inner.encoded, outerAlgorithm.encoded)
                field = "signatureValue"
                signature = try certificate.nextBits(of: "a signature")
                try certificate.finish()
            } catch {
                throw CertificateError(error, in: field)
            }
            guard der[signatures.inner] == der[signatures.outer] else {
                throw CertificateError(
                    .algorithmMismatch, field: "signatureAlgorithm",
                    expected: "one signature algorithm in both places (RFC 5280 4.1.1.2)",
                    found: "two")
            }
            extensions =
                if let extensionList { try CertificateExtension.readAll(extensionList, of: der) } else { [] }
            let key = subjectPublicKeyInfo
            publicKey = Result { () throws(DERError) in try CertificatePublicKey(key, of: der) }
            self.der = der
        }

        private static func version(_ explicit: DERReader.Element?, of bytes: [UInt8]) throws(DERError) -> Int {
            guard let explicit else { return 1 }
            let number = try DERReader.only(DERTag.integer, of: bytes, in: explicit.content).content
            // Version 1 is the default, which DER leaves out; there is no version 4.
            guard number.count == 1, (1...2).contains(bytes[number.lowerBound]) else {
                throw DERError(.invalidValue("a version other than 2 or 3"), at: number.lowerBound)
            }
            return Int(bytes[number.lowerBound]) + 1
        }
    }

    let layout: Layout

    /// Reads a certificate.
    /// - Parameter der: DER, one certificate and nothing after it.
    /// - Throws: ``CertificateError`` naming the field that cannot be read.
    public init(der: [UInt8]) throws(CertificateError) { layout = try Layout(der) }

    /// The DER as given.
    public var der: [UInt8] { layout.der }
    /// The version: 1, 2 or 3.
    package var version: Int { layout.version }
    /// The content bytes of the serial number, big-endian two's complement.
    public var serialNumber: ArraySlice<UInt8> { layout.der[layout.serialNumber] }
    /// The name of its issuer, as the certificate states it.
    public var issuer: DistinguishedName { DistinguishedName(der: layout.der[layout.issuer]) }
    /// The name of its subject.
    public var subject: DistinguishedName { DistinguishedName(der: layout.der[layout.subject]) }
    /// The first second of its validity.
    public var notBefore: Date { Date(wholeSeconds: layout.notBefore) }
    /// The last second of its validity.
    public var notAfter: Date { Date(wholeSeconds: layout.end - 1) }
    /// The public key as it is in the certificate. Key pins hash it (RFC 7469 section 2.4).
    public var subjectPublicKeyInfo: ArraySlice<UInt8> { layout.der[layout.subjectPublicKeyInfo] }

    /// The kind of key; nil if the key cannot be read.
    package var keyKind: CertificatePublicKey.Kind? { try? publicKey.kind }
    /// The algorithm of its signature.
    package var signatureAlgorithm: CertificateSignatureAlgorithm { layout.signatureAlgorithm }

    /// The names of subjectAltName, in their order; empty if the certificate has none or they cannot be read.
    public var subjectAlternativeNames: [GeneralName] { ((try? subjectAltName) ?? nil)?.map { GeneralName($0) } ?? [] }

    /// Whether issuer and subject are the same name, byte by byte.
    package var isSelfIssued: Bool { layout.der[layout.issuer] == layout.der[layout.subject] }
}

extension X509Certificate: Hashable {
    /// Equality of the DER.
    public static func == (left: X509Certificate, right: X509Certificate) -> Bool {
        left.layout === right.layout || left.layout.der == right.layout.der
    }

    /// Hashes all bytes: an attacker can make many certificates with one signature.
    public func hash(into hasher: inout Hasher) { hasher.combine(octets: layout.der[...]) }
}

extension X509Certificate {
    var publicKey: CertificatePublicKey {
        get throws(DERError) { try layout.publicKey.get() }
    }

    func value(of known: CertificateExtension.Known) -> Range<Int>? {
        layout.extensions.first { $0.known == known }?.value
    }

    private func read<Value>(
        _ known: CertificateExtension.Known, _ value: (Range<Int>, [UInt8]) throws(DERError) -> Value
    ) throws(DERError) -> Value? {
        guard let range = self.value(of: known) else { return nil }
        return try value(range, layout.der)
    }

    package var basicConstraints: BasicConstraints? {
        get throws(DERError) { try read(.basicConstraints, BasicConstraints.init) }
    }

    var keyUsage: KeyUsage? {
        get throws(DERError) { try read(.keyUsage, KeyUsage.init) }
    }

    var extendedKeyUsage: ExtendedKeyUsage? {
        get throws(DERError) { try read(.extendedKeyUsage, ExtendedKeyUsage.init) }
    }

    var nameConstraints: NameConstraints? {
        get throws(DERError) { try read(.nameConstraints, NameConstraints.init) }
    }

    /// The same names as ``subjectAlternativeNames``, for rules: nil without the extension, and an error if it cannot
    /// be read.
    var subjectAltName: [GeneralNameSlice]? {
        get throws(DERError) { try read(.subjectAltName, GeneralNameSlice.readAll) }
    }

    /// The content of subjectKeyIdentifier (RFC 5280 4.2.1.2); a hint for path building only.
    var subjectKeyIdentifier: ArraySlice<UInt8>? {
        guard let value = value(of: .subjectKeyIdentifier) else { return nil }
        var reader = DERReader(layout.der, in: value)
        return (try? reader.next(DERTag.octetString)).map { layout.der[$0.content] }
    }

    /// keyIdentifier of authorityKeyIdentifier (RFC 5280 4.2.1.1); a hint for path building only.
    var authorityKeyIdentifier: ArraySlice<UInt8>? {
        guard let value = value(of: .authorityKeyIdentifier) else { return nil }
        var reader = DERReader(layout.der, in: value)
        guard let sequence = try? reader.next(DERTag.sequence) else { return nil }
        var fields = reader.inside(sequence)
        return ((try? fields.nextIfPresent(DERTag.context(0))) ?? nil).map { layout.der[$0.content] }
    }
}
