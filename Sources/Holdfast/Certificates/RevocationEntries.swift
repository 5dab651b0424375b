/// The entries of a revocation list (RFC 5280 5.3) as an index into its DER: eight bytes per entry, whatever its
/// length.
///
/// Two hash tables of offsets. Swift seeds its hash per process, so an attacker cannot choose serial numbers that
/// collide.
struct RevocationEntries: Sendable {
    /// The entry of a list about a certificate.
    enum Listing: Sendable {
        case absent
        case revoked
        /// A delta list removes the entry of its base (removeFromCRL, RFC 5280 5.3.1).
        case removed
    }

    private let revoked: Index
    private let removed: Index
    private(set) var hasCriticalExtension = false

    /// - Parameters:
    ///   - reader: the content of revokedCertificates; nil if the list has none.
    ///   - issuer: the issuer of the list. Entries of other issuers, as in indirect lists, are skipped.
    ///   - isDelta: whether removeFromCRL counts, as it does only in delta lists (RFC 5280 5.3.1).
    init(_ reader: DERReader?, issuer: DistinguishedName, isDelta: Bool) throws(DERError) {
        guard var reader else {
            (revoked, removed) = (Index([], of: []), Index([], of: []))
            return
        }
        var places: [UInt32] = []
        var removals: [UInt32] = []
        var entry = Entry(issuer: issuer)
        while !reader.isAtEnd {
            let place = try entry.read(reader.inside(try reader.next(DERTag.sequence)))
            guard entry.isOfIssuer else { continue }
            if isDelta, entry.isRemoval { removals.append(UInt32(place)) } else { places.append(UInt32(place)) }
        }
        hasCriticalExtension = entry.hasCriticalExtension
        (revoked, removed) = (Index(places, of: reader.bytes), Index(removals, of: reader.bytes))
    }

    /// The number of different serial numbers that are revoked.
    var count: Int { revoked.count }
    var indexBytes: Int { revoked.bytes + removed.bytes }

    /// - Parameters:
    ///   - serialNumber: the content bytes of the INTEGER.
    ///   - bytes: the list's DER.
    func listing(of serialNumber: ArraySlice<UInt8>, in bytes: [UInt8]) -> Listing {
        // If both exist, the certificate is revoked.
        if revoked.contains(serialNumber, of: bytes) { return .revoked }
        return removed.contains(serialNumber, of: bytes) ? .removed : .absent
    }

    /// An open hash table of offsets.
    private struct Index: Sendable {
        /// The offsets of serial numbers (of the INTEGER). 0 means an empty slot, because a list begins with its
        /// SEQUENCE.
        private let slots: [UInt32]
        /// The number of different serial numbers.
        let count: Int

        init(_ places: [UInt32], of bytes: [UInt8]) {
            var table = [UInt32](repeating: 0, count: 2 * places.count)
            var count = 0
            for place in places {
                let serialNumber = Self.serialNumber(at: place, of: bytes)
                var slot = Self.slot(of: serialNumber, among: table.count)
                while table[slot] != 0, Self.serialNumber(at: table[slot], of: bytes) != serialNumber {
                    slot = slot + 1 == table.count ? 0 : slot + 1
                }
                if table[slot] == 0 { count += 1 }
                table[slot] = place
            }
            (slots, self.count) = (table, count)
        }

        var bytes: Int { slots.count * MemoryLayout<UInt32>.stride }

        func contains(_ serialNumber: ArraySlice<UInt8>, of bytes: [UInt8]) -> Bool {
            guard !slots.isEmpty else { return false }
            let wanted = Self.shortest(serialNumber)
            var slot = Self.slot(of: wanted, among: slots.count)
            // At least every other slot is empty.
            while slots[slot] != 0 {
                if Self.serialNumber(at: slots[slot], of: bytes) == wanted { return true }
                slot = slot + 1 == slots.count ? 0 : slot + 1
            }
            return false
        }

        private static func slot(of serialNumber: ArraySlice<UInt8>, among count: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(octets: serialNumber)
            let hash = UInt64(UInt32(truncatingIfNeeded: hasher.finalize()))
            return Int((hash * UInt64(count)) >> 32)
        }

        private static func serialNumber(at place: UInt32, of bytes: [UInt8]) -> ArraySlice<UInt8> {
            var reader = DERReader(bytes, in: Int(place)..<bytes.count)
            guard let element = try? reader.next() else { return [] }
            return shortest(bytes[element.content])
        }

        /// The number in its shortest form (X.690 8.3.2); not every authority writes it.
        private static func shortest(_ serialNumber: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            var octets = serialNumber
            while octets.count > 1, let first = octets.first,
                first == (octets[octets.startIndex + 1] < 0x80 ? 0x00 : 0xFF)
            {
                octets = octets.dropFirst()
            }
            return octets
        }
    }
}

extension RevocationEntries {
    /// The current entry, and the state that earlier entries set for later ones.
    private struct Entry {
        private let issuer: DistinguishedName
        private var foldedIssuer: FoldedName??
        /// A certificateIssuer applies to the entries after it as well (RFC 5280 5.3.3).
        private(set) var isOfIssuer = true
        private(set) var isRemoval = false
        private(set) var hasCriticalExtension = false

        init(issuer: DistinguishedName) { self.issuer = issuer }

        /// - Returns: the offset of the serial number.
        mutating func read(_ fields: consuming DERReader) throws(DERError) -> Int {
            isRemoval = false
            let serialNumber = try fields.next(DERTag.integer)
            guard !serialNumber.content.isEmpty else {
                throw DERError(.invalidValue("an empty INTEGER"), at: serialNumber.encoded.lowerBound)
            }
            _ = try ASN1Time.read(try fields.next(), of: fields.bytes)
            if let list = try fields.nextIfPresent(DERTag.sequence) {
                var extensions = fields.inside(list)
                while !extensions.isAtEnd {
                    try examine(
                        try CertificateExtension.read(extensions.inside(try extensions.next(DERTag.sequence))),
                        of: fields.bytes)
                }
            }
            try fields.finish()
            return serialNumber.encoded.lowerBound
        }

        private mutating func examine(_ one: CertificateExtension, of bytes: [UInt8]) throws(DERError) {
            let identifier = bytes[one.identifier]
            if identifier.elementsEqual(Self.reasonCode) {
                var value = DERReader(bytes, in: one.value)
                isRemoval = bytes[try value.next(Self.enumerated).content].elementsEqual([Self.removeFromCRL])
            } else if identifier.elementsEqual(Self.certificateIssuer) {
                isOfIssuer = try names(one.value, of: bytes)
                // In a list that is not indirect, this extension has no meaning.
                hasCriticalExtension = true
            } else if one.isCritical {
                hasCriticalExtension = true
            }
        }

        /// Whether one of the names is the issuer's.
        private mutating func names(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) -> Bool {
            var outer = DERReader(bytes, in: value)
            var list = outer.inside(try outer.next(DERTag.sequence))
            while !list.isAtEnd {
                let name = try list.next()
                guard name.tag == DERTag.contextConstructed(4) else { continue }
                let other = DistinguishedName(der: bytes[name.content])
                if other.der == issuer.der { return true }
                let own = foldedIssuer ?? issuer.folded
                foldedIssuer = .some(own)
                if let own, other.folded == own { return true }
            }
            return false
        }

        private static let reasonCode: [UInt8] = [0x55, 0x1D, 0x15]
        private static let certificateIssuer: [UInt8] = [0x55, 0x1D, 0x1D]
        private static let enumerated: UInt8 = 0x0A
        private static let removeFromCRL: UInt8 = 8
    }
}
