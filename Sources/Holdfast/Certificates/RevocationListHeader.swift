/// A revocation list without its entries: enough to find its signer. Lists travel unprotected, and anyone may have
/// added entries, so entries are read only once the signer is known.
struct RevocationListHeader: Sendable {
    /// The certificates that a list covers (issuingDistributionPoint, RFC 5280 5.2.5). Lists with the same issuer and
    /// scope replace each other.
    struct Scope: Sendable, Equatable {
        var onlyEndEntities = false
        var onlyAuthorities = false
        var onlyAttributeCertificates = false
        var isIndirect = false
        /// The content of onlySomeReasons; nil if the list is for all reasons.
        var reasons: OctetString?
        /// The names of the distribution point; empty if the list is for all points.
        var distributionPoint: Set<DistributionPointName> = []

        /// Whether a list of this scope covers every certificate that a list of another scope covers.
        func contains(_ other: Scope) -> Bool {
            isIndirect == other.isIndirect && reasons == other.reasons
                && onlyAttributeCertificates == other.onlyAttributeCertificates
                && (!onlyEndEntities || other.onlyEndEntities) && (!onlyAuthorities || other.onlyAuthorities)
                && (distributionPoint.isEmpty
                    || !other.distributionPoint.isEmpty && other.distributionPoint.isSubset(of: distributionPoint))
        }
    }

    /// The origin of a list that was fetched and verified.
    struct Provenance: Sendable, Equatable {
        /// SHA-256 of the list.
        let digest: [UInt8]
        /// The ``X509Certificate/keyIdentity`` of its signer.
        let signer: OctetString
        /// The same identity of the authority for which it was fetched and verified.
        let authority: OctetString
        /// The URL from which it was fetched.
        let address: OctetString
        /// Whether only its entries count. Such a list was out of date or not understood when it was accepted, so a
        /// certificate without an entry is treated as if the list did not exist.
        var revokesOnly = false
    }

    /// The DER as given.
    let der: [UInt8]
    let toBeSigned: Range<Int>
    let signatureAlgorithm: CertificateSignatureAlgorithm
    let signature: Range<Int>
    private let issuerRange: Range<Int>
    let thisUpdateSeconds: Int64
    /// The first second at which it no longer counts: nextUpdate is the last (RFC 5280 5.1.2.5). nil if it is absent.
    let endSecond: Int64?
    /// The content of revokedCertificates, not read yet; nil if the list has none.
    let entries: Range<Int>?
    let scope: Scope
    /// The cRLNumber (RFC 5280 5.2.3); nil if it is absent or not a valid number.
    let number: RevocationListNumber?
    /// Whether it lists changes since another list (deltaCRLIndicator, RFC 5280 5.2.4).
    let isDelta: Bool
    /// The BaseCRLNumber of a delta list.
    let baseNumber: RevocationListNumber?
    /// The keyIdentifier of its authorityKeyIdentifier (RFC 5280 5.2.1): a hint at its signer.
    private let keyIdentifierRange: Range<Int>?
    /// The first reason why the list gives no certificate's status, apart from its entries and from being a delta list.
    let flaw: String?
    /// The origin of the list; nil for a list that the application gave.
    var provenance: Provenance?

    init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= CertificateRevocationList.maximumBytes else {
            throw CertificateError(
                .tooLarge, field: "certificateList",
                expected: "at most \(CertificateRevocationList.maximumBytes) bytes", found: "\(der.count) bytes")
        }
        do throws(DERError) {
            var list = try DERReader(sequence: der)
            let signed = try list.next(DERTag.sequence)
            toBeSigned = signed.encoded
            let outerAlgorithm = try list.next(DERTag.sequence)
            signature = try list.nextBits(of: "a signature")
            try list.finish()

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
            endSecond = next.map { $0 + 1 }
            let revoked = try fields.nextIfPresent(DERTag.sequence)
            let issuer = DistinguishedName(der: der[issuerRange])
            var extensions = RevocationListExtensions()
            if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
                try extensions.read(DERReader(der, in: explicit.content), issuer: issuer)
            }
            try fields.finish()
            entries = revoked?.content
            // RFC 5280 5.1.2.1, 5.2.3: conforming lists are of version 2 and have a number.
            if version.map({ der[$0.content].elementsEqual([1]) }) != true {
                extensions.note("a list that is not of version 2")
            }
            if !extensions.hasNumber { extensions.note("a list without a cRLNumber") }
            scope = extensions.scope
            (number, isDelta, baseNumber) = (extensions.number, extensions.isDelta, extensions.baseNumber)
            keyIdentifierRange = extensions.keyIdentifier
            flaw = extensions.flaw
        } catch {
            throw CertificateError(error, in: "certificateList")
        }
        self.der = der
    }

    /// The issuer whose certificates the list covers, as the list states it.
    var issuer: DistinguishedName { DistinguishedName(der: der[issuerRange]) }
    var keyIdentifier: ArraySlice<UInt8>? { keyIdentifierRange.map { der[$0] } }
}

extension RevocationListHeader {
    /// The age of a list compared with another one with the same key and scope.
    enum Age: Sendable {
        case newer
        case older
        /// Both have the same number, or the same time if one has no number.
        case same
        /// The numbers and the times contradict each other.
        case contradictory
    }

    /// A list with the higher number is newer if both have one, unless the times disagree; otherwise the one with the
    /// later thisUpdate is.
    func age(beside other: RevocationListHeader) -> Age {
        let byTime: Age =
            thisUpdateSeconds == other.thisUpdateSeconds
            ? .same : thisUpdateSeconds > other.thisUpdateSeconds ? .newer : .older
        guard let number, let otherNumber = other.number else { return byTime }
        guard number != otherNumber else { return .same }
        let byNumber: Age = otherNumber < number ? .newer : .older
        return byTime == .same || byTime == byNumber ? byNumber : .contradictory
    }
}

/// A cRLNumber: a whole number that is not negative, of at most 20 bytes (RFC 5280 5.2.3).
struct RevocationListNumber: Sendable, Equatable, Comparable {
    /// Big-endian, without leading zeros.
    private let octets: [UInt8]

    private static let longest = 20

    /// - Parameter value: the value of the extension. The result is nil if it is not such an INTEGER.
    init?(_ value: Range<Int>, of bytes: [UInt8]) {
        var reader = DERReader(bytes, in: value)
        guard let content = try? reader.next(DERTag.integer).content, (try? reader.finish()) != nil,
            let first = bytes[content].first, first < 0x80
        else { return nil }
        octets = Array(bytes[content].drop { $0 == 0 })
        guard octets.count <= Self.longest else { return nil }
    }

    static func < (one: Self, other: Self) -> Bool {
        one.octets.count == other.octets.count
            ? one.octets.lexicographicallyPrecedes(other.octets) : one.octets.count < other.octets.count
    }
}
