public import struct Foundation.Date

/// A certificate revocation list (RFC 5280 section 5), read as far as checking asks; nothing is verified by reading.
///
/// Complete lists of the issuer itself are understood, whole or restricted to end entities, to CAs or to a distribution
/// point. Delta, indirect and partial-reason lists are not: such a list reads as ``unsupported`` and answers nothing.
/// A value; safe to use from any thread.
public struct CertificateRevocationList: Sendable {
    /// The largest list that is read; those of large authorities have some ten megabytes.
    package static let maximumBytes = 64 << 20

    /// Which certificates a list speaks of (issuingDistributionPoint, RFC 5280 5.2.5).
    struct Scope: Sendable {
        var onlyEndEntities = false
        var onlyAuthorities = false
        /// The names of the distribution point; empty where the list is for all.
        var distributionPoint: [GeneralNameSlice] = []
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
    /// Why the list cannot be used although it can be read; nil where it can.
    public let unsupported: String?
    private let revoked: Set<OctetString>

    /// Reads a list.
    /// - Parameter der: DER, one list and nothing behind it.
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
            var reading = Reading()
            if let entries = try fields.nextIfPresent(DERTag.sequence) {
                try reading.readEntries(DERReader(der, in: entries.content))
            }
            if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
                try reading.readExtensions(DERReader(der, in: explicit.content))
            }
            try fields.finish()
            // RFC 5280 5.1.2.1, 5.2.3: conforming lists are of version 2 and have a number.
            if version.map({ der[$0.content].elementsEqual([1]) }) != true { reading.unsupported = "not version 2" }
            if !reading.hasNumber { reading.unsupported = reading.unsupported ?? "no cRLNumber" }
            revoked = reading.revoked
            scope = reading.scope
            unsupported = reading.unsupported
        } catch {
            throw CertificateError(error, in: "certificateList")
        }
        self.der = der
    }

    /// Whose certificates the list speaks of, by its own word.
    public var issuer: DistinguishedName { DistinguishedName(der: der[issuerRange]) }
    /// When it was issued.
    public var thisUpdate: Date { Date(timeIntervalSince1970: Double(thisUpdateSeconds)) }
    /// When the next one is due at the latest; nil where the list does not say.
    public var nextUpdate: Date? { nextUpdateSeconds.map { Date(timeIntervalSince1970: Double($0)) } }
    /// How many certificates it revokes.
    package var count: Int { revoked.count }

    /// Whether it lists a serial number, given as the content octets of the INTEGER.
    func lists(_ serialNumber: ArraySlice<UInt8>) -> Bool { revoked.contains(OctetString(Self.shortest(serialNumber))) }

    /// The number in its shortest form (X.690 8.3.2), which not every authority writes.
    private static func shortest(_ serialNumber: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var octets = serialNumber
        while let first = octets.first, let second = octets.dropFirst().first,
            first == (second < 0x80 ? 0x00 : 0xFF)
        {
            octets = octets.dropFirst()
        }
        return octets
    }
}

extension CertificateRevocationList {
    /// What is collected while the list is read.
    private struct Reading {
        var revoked: Set<OctetString> = []
        var scope = Scope()
        var hasNumber = false
        var unsupported: String?

        mutating func readEntries(_ entries: consuming DERReader) throws(DERError) {
            while !entries.isAtEnd {
                var entry = entries.inside(try entries.next(DERTag.sequence))
                let serialNumber = entries.bytes[try entry.next(DERTag.integer).content]
                revoked.insert(OctetString(CertificateRevocationList.shortest(serialNumber)))
                _ = try ASN1Time.read(try entry.next(), of: entries.bytes)
                if let list = try entry.nextIfPresent(DERTag.sequence) {
                    var extensions = entry.inside(list)
                    while !extensions.isAtEnd {
                        let one = try CertificateExtension.read(extensions.inside(try extensions.next(DERTag.sequence)))
                        // certificateIssuer, of indirect lists, is the critical one that is in use (RFC 5280 5.3.3).
                        if one.isCritical { unsupported = "a critical extension of an entry" }
                    }
                }
                try entry.finish()
            }
        }

        mutating func readExtensions(_ explicit: consuming DERReader) throws(DERError) {
            let bytes = explicit.bytes
            var list = explicit.inside(try explicit.next(DERTag.sequence))
            try explicit.finish()
            while !list.isAtEnd {
                let one = try CertificateExtension.read(list.inside(try list.next(DERTag.sequence)))
                switch Array(bytes[one.identifier]) {
                case [0x55, 0x1D, 0x14]:  // cRLNumber
                    hasNumber = true
                    // RFC 5280 5.2.3: conforming issuers mark it as not critical.
                    if one.isCritical { unsupported = "a critical cRLNumber" }
                case [0x55, 0x1D, 0x1C]:  // issuingDistributionPoint
                    try readDistributionPoint(one.value, of: bytes)
                default:
                    if one.isCritical {
                        unsupported = "the critical extension \(ObjectIdentifier.text(bytes[one.identifier]))"
                    }
                }
            }
        }

        private mutating func readDistributionPoint(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) {
            var outer = DERReader(bytes, in: value)
            var fields = outer.inside(try outer.next(DERTag.sequence))
            try outer.finish()
            while !fields.isAtEnd {
                let field = try fields.next()
                switch field.tag {
                case DERTag.contextConstructed(0):
                    scope.distributionPoint = try DistributionPointName.fullNames(in: field, of: bytes)
                    if scope.distributionPoint.isEmpty { unsupported = "a distribution point without a full name" }
                case DERTag.context(1):
                    scope.onlyEndEntities = try CertificateExtension.boolean(field, of: bytes)
                case DERTag.context(2):
                    scope.onlyAuthorities = try CertificateExtension.boolean(field, of: bytes)
                default:
                    unsupported = "a list that is indirect, for some reasons or for attribute certificates"
                }
            }
        }
    }
}

/// DistributionPointName (RFC 5280 4.2.1.13): the full names in it.
enum DistributionPointName {
    static func fullNames(in explicit: DERReader.Element, of bytes: [UInt8]) throws(DERError) -> [GeneralNameSlice] {
        var choice = DERReader(bytes, in: explicit.content)
        let name = try choice.next()
        try choice.finish()
        guard name.tag == DERTag.contextConstructed(0) else { return [] }
        var list = DERReader(bytes, in: name.content)
        var names: [GeneralNameSlice] = []
        while !list.isAtEnd { names.append(try GeneralNameSlice(try list.next(), of: bytes, addressSizes: [4, 16])) }
        return names
    }
}

extension X509Certificate {
    /// 2.5.29.31
    private var distributionPoints: Range<Int>? {
        let identifier: [UInt8] = [0x55, 0x1D, 0x1F]
        return layout.extensions.first { layout.der[$0.identifier].elementsEqual(identifier) }?.value
    }

    /// Octets that are read for ``distributionPointNames``.
    var distributionPointLength: Int { distributionPoints?.count ?? 0 }

    /// The full names of its cRLDistributionPoints (RFC 5280 4.2.1.13); empty where it has none that can be read.
    var distributionPointNames: [GeneralNameSlice] {
        guard let value = distributionPoints else { return [] }
        var names: [GeneralNameSlice] = []
        do throws(DERError) {
            var outer = DERReader(layout.der, in: value)
            var points = outer.inside(try outer.next(DERTag.sequence))
            while !points.isAtEnd {
                var fields = points.inside(try points.next(DERTag.sequence))
                guard let name = try fields.nextIfPresent(DERTag.contextConstructed(0)) else { continue }
                names += try DistributionPointName.fullNames(in: name, of: layout.der)
            }
            return names
        } catch {
            return []
        }
    }
}
