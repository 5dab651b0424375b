public import struct Foundation.Date

/// A certificate revocation list (RFC 5280 section 5), read as far as checking needs; reading verifies nothing.
///
/// Complete lists of the issuer itself can vouch for certificates, whole or restricted to end entities, to CAs or to a
/// distribution point. Delta lists, indirect lists and lists for some reasons or attribute certificates cannot: such a
/// list is ``unsupported``. The certificates that it revokes are still revoked.
public struct CertificateRevocationList: Sendable {
    /// The largest list that is read; those of large authorities have some ten megabytes.
    package static let maximumBytes = 64 << 20

    /// Which certificates a list speaks of (issuingDistributionPoint, RFC 5280 5.2.5).
    struct Scope: Sendable, Equatable {
        var onlyEndEntities = false
        var onlyAuthorities = false
        var onlyAttributeCertificates = false
        /// The names of the distribution point; empty where the list is for all.
        var distributionPoint: Set<DistributionPointName> = []
    }

    /// How a list came here that was fetched and verified.
    struct Provenance: Sendable, Equatable {
        /// SHA-256 of the list.
        let digest: [UInt8]
        /// The ``X509Certificate/keyIdentity`` of whoever signed it.
        let signer: OctetString
        /// That of the authority for which it was fetched and verified.
        let authority: OctetString
        /// The URL that it is from.
        let address: OctetString
    }

    /// The DER as given.
    public let der: [UInt8]
    let toBeSigned: Range<Int>
    let signatureAlgorithm: CertificateSignatureAlgorithm
    let signature: Range<Int>
    private let issuerRange: Range<Int>
    let thisUpdateSeconds: Int64
    let nextUpdateSeconds: Int64?
    let scope: Scope
    /// The keyIdentifier of its authorityKeyIdentifier (RFC 5280 5.2.1): a hint who signed it.
    private let keyIdentifierRange: Range<Int>?
    /// Why the list cannot vouch for a certificate although it can be read, for example `a delta list`; nil where it can.
    public let unsupported: String?
    private let entries: RevocationEntries
    /// nil for a list that the application gave.
    var provenance: Provenance?

    /// Reads a list.
    /// - Parameter der: DER of one list, with nothing after it.
    /// - Throws: ``CertificateError`` naming the field that cannot be read.
    public init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= Self.maximumBytes else {
            throw CertificateError(
                .tooLarge, field: "certificateList", expected: "at most \(Self.maximumBytes) bytes",
                found: "\(der.count) bytes")
        }
        do throws(DERError) {
            var outer = DERReader(der)
            var list = outer.inside(try outer.next(DERTag.sequence))
            try outer.finish()
            let signed = try list.next(DERTag.sequence)
            toBeSigned = signed.encoded
            let outerAlgorithm = try list.next(DERTag.sequence)
            let bits = try list.next(DERTag.bitString).content
            try list.finish()
            guard let unused = der[bits].first, unused == 0 else {
                throw DERError(.invalidValue("a signature with unused bits"), at: bits.lowerBound)
            }
            signature = bits.lowerBound + 1..<bits.upperBound

            var fields = DERReader(der, in: signed.content)
            let version = try fields.nextIfPresent(DERTag.integer)
            let inner = try fields.next(DERTag.sequence)
            guard der[inner.encoded] == der[outerAlgorithm.encoded] else {
                throw DERError(.invalidValue("two signature algorithms"), at: inner.encoded.lowerBound)
            }
            signatureAlgorithm = try CertificateSignatureAlgorithm(inner.content, of: der)
            issuerRange = try fields.next(DERTag.sequence).encoded
            thisUpdateSeconds = try ASN1Time.read(try fields.next(), of: der)
            var next: Int64?
            if fields.nextTag == DERTag.utcTime || fields.nextTag == DERTag.generalizedTime {
                next = try ASN1Time.read(try fields.next(), of: der)
            }
            nextUpdateSeconds = next
            let revoked = try fields.nextIfPresent(DERTag.sequence)
            let issuer = DistinguishedName(der: der[issuerRange])
            var extensions = RevocationListExtensions()
            if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
                try extensions.read(DERReader(der, in: explicit.content), issuer: issuer)
            }
            try fields.finish()
            entries = try RevocationEntries(
                revoked.map { DERReader(der, in: $0.content) }, issuer: issuer, isDelta: extensions.isDelta)
            // RFC 5280 5.1.2.1, 5.2.3: conforming lists are of version 2 and have a number.
            if version.map({ der[$0.content].elementsEqual([1]) }) != true {
                extensions.note("a list that is not of version 2")
            }
            if !extensions.hasNumber { extensions.note("a list without a cRLNumber") }
            if entries.hasCriticalExtension { extensions.note("a list with a critical extension of an entry") }
            scope = extensions.scope
            keyIdentifierRange = extensions.keyIdentifier
            unsupported = extensions.unsupported
        } catch {
            throw CertificateError(error, in: "certificateList")
        }
        self.der = der
    }

    /// The issuer whose certificates the list covers, as the list states it.
    public var issuer: DistinguishedName { DistinguishedName(der: der[issuerRange]) }
    /// When it was issued.
    public var thisUpdate: Date { Date(wholeSeconds: thisUpdateSeconds) }
    /// When the next one is due at the latest; nil if the list does not say.
    public var nextUpdate: Date? { nextUpdateSeconds.map { Date(wholeSeconds: $0) } }
    /// How many certificates of its issuer it revokes.
    public var count: Int { entries.count }
    /// The memory that the index of serial numbers takes, in addition to the DER.
    var indexBytes: Int { entries.indexBytes }

    var keyIdentifier: ArraySlice<UInt8>? { keyIdentifierRange.map { der[$0] } }

    /// Whether it lists a serial number, given as the content octets of the INTEGER; nothing is verified.
    public func lists(_ serialNumber: ArraySlice<UInt8>) -> Bool { entries.contains(serialNumber, of: der) }
}
