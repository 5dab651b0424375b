import Foundation

/// A name in the form in which names compare by RFC 5280 section 7.1. Equal names have equal bytes, and a name begins
/// with the bytes of every name whose subtree contains it.
///
/// Folding is the most expensive operation on a name. Fold each name only once, and charge the budget with the reported
/// work.
struct FoldedName: Sendable, Hashable {
    let octets: [UInt8]

    /// Consistent with equality.
    func hash(into hasher: inout Hasher) { hasher.combine(octets: octets[...]) }

    /// Whether the first relative names are all of those of `base`. Each relative name is preceded by its length, so a
    /// prefix of bytes is a prefix of names.
    func isWithin(_ base: FoldedName) -> Bool {
        octets.count >= base.octets.count && octets[..<base.octets.count] == base.octets[...]
    }
}

extension DistinguishedName {
    /// Names longer than those of any authority are compared only byte by byte.
    static let maximumFoldedBytes = 1_024

    /// The folded name; nil for a name that cannot be read, is too long, or has text that cannot be folded.
    var folded: FoldedName? {
        var work = 0
        return folded(work: &work)
    }

    /// - Parameter work: increased by the cost of folding, in the unit of ``ValidationLimits/work``.
    func folded(work: inout Int) -> FoldedName? {
        work += 2
        guard der.count <= Self.maximumFoldedBytes else { return nil }
        work += der.count / 4
        var folding = Folding(reserving: 2 * der.count)
        var isFolded = true
        let isName = forEachAttribute { attribute, relativeName in
            folding.begin(relativeName)
            if let attribute { isFolded = folding.append(attribute) }
            return isFolded
        }
        folding.endRelativeName()
        work += folding.work
        return isName && isFolded ? FoldedName(octets: folding.octets) : nil
    }

    /// A folded name under construction, without an array for each attribute: a name of a kilobyte may have a hundred.
    private struct Folding {
        private(set) var octets: [UInt8] = []
        private(set) var work = 0
        private var relativeName = -1
        /// The positions of the relative name's attribute count and of each attribute.
        private var start = 0
        private var attributes: [Range<Int>] = []

        init(reserving count: Int) { octets.reserveCapacity(count) }

        mutating func begin(_ relativeName: Int) {
            guard relativeName != self.relativeName else { return }
            endRelativeName()
            self.relativeName = relativeName
            work += 3
            start = octets.count
            octets.append(length: 0)
            attributes.removeAll(keepingCapacity: true)
        }

        /// - Returns: whether it can be folded.
        mutating func append(_ attribute: Attribute) -> Bool {
            work += 8
            let start = octets.count
            guard attribute.fold(into: &octets, work: &work) else { return false }
            attributes.append(start..<octets.count)
            return true
        }

        mutating func endRelativeName() {
            guard relativeName >= 0 else { return }
            if attributes.count > 1 { sortAttributes() }
            octets.replace(length: attributes.count, at: start)
        }

        /// A set has no order and no duplicates, even if its DER does.
        private mutating func sortAttributes() {
            work += 16 * attributes.count
            var sorted = attributes.map { Array(octets[$0]) }
            sorted.sort { $0.lexicographicallyPrecedes($1) }
            octets.removeSubrange((start + 2)...)
            attributes.removeAll(keepingCapacity: true)
            var last: [UInt8]?
            for one in sorted where one != last {
                attributes.append(octets.count..<(octets.count + one.count))
                octets += one
                last = one
            }
        }
    }
}

extension DistinguishedName.Attribute {
    /// Maximum number of bytes of text beyond ASCII that is folded: names have at most 64 characters (RFC 5280, upper
    /// bounds).
    private static let maximumInternationalBytes = 512
    /// The maximum factor by which normalization may lengthen a text.
    private static let maximumGrowth = 3

    /// Appends type, kind and value, each after its length; text regardless of case, runs of spaces and the string
    /// type.
    /// - Returns: false for text beyond ASCII that is too long or that grows when it is normalized.
    fileprivate func fold(into octets: inout [UInt8], work: inout Int) -> Bool {
        octets.append(length: type.count)
        octets += type
        let isASCII =
            Self.isASCIISuperset(tag) && value.allSatisfy { $0 < 0x80 }
        if isASCII {
            octets.append(0x0C)
            let start = octets.count
            octets.append(length: 0)
            Self.appendFoldedASCII(value, to: &octets)
            octets.replace(length: octets.count - start - 2, at: start)
            return true
        }
        var text: (tag: UInt8, octets: [UInt8]) = (tag, [])
        if value.count <= Self.maximumInternationalBytes,
            let read = Self.text(tag: tag, value: Array(value))
        {
            guard let folded = Self.foldedText(read, work: &work) else { return false }
            text = (0x0C, folded)
        } else if Self.isText(tag), value.count > Self.maximumInternationalBytes {
            return false
        } else {
            text.octets = Array(value)
        }
        octets.append(text.tag)
        octets.append(length: text.octets.count)
        octets += text.octets
        return true
    }

    private static func isText(_ tag: UInt8) -> Bool { Self.isASCIISuperset(tag) || tag == 0x1E || tag == 0x1C }

    /// UTF8, Numeric, Printable, Teletex, IA5, VisibleString: in these, a byte below 128 is a character of ASCII.
    static func isASCIISuperset(_ tag: UInt8) -> Bool {
        switch tag {
        case 0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A: true
        default: false
        }
    }

    /// The fast path for nearly every name: the result of ``foldedText(_:work:)``, without Unicode's tables.
    private static func appendFoldedASCII(_ value: ArraySlice<UInt8>, to octets: inout [UInt8]) {
        let start = octets.count
        var isSpaced = false
        for octet in value {
            switch octet {
            case 0x20, 0x09...0x0D: isSpaced = true
            case 0x00...0x1F, 0x7F: continue
            default:
                if isSpaced, octets.count > start { octets.append(0x20) }
                isSpaced = false
                octets.append(DNSOctets.lowercase(octet))
            }
        }
    }

    /// Unicode text folded by NFKC and case. Only short text comes here: normalizing takes time that grows with the
    /// square of a run of combining marks.
    private static func foldedText(_ text: String, work: inout Int) -> [UInt8]? {
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            // The two ligatures that grow to whole sentences, 18 and 8 characters.
            if scalar.value == 0xFDFA || scalar.value == 0xFDFB { return nil }
            if !isMappedToNothing(scalar) { mapped.append(scalar) }
        }
        let stripped = String(mapped)
        let folded = stripped.precomposedStringWithCompatibilityMapping.lowercased()
        let octets = Array(folded.split(whereSeparator: \.isWhitespace).joined(separator: " ").utf8)
        // Measured: some 100 ns for each byte of text that goes in or comes out.
        work += 2 * (text.utf8.count + folded.utf8.count)
        return folded.utf8.count <= maximumGrowth * stripped.utf8.count ? octets : nil
    }

    /// Characters that stringprep ignores (RFC 4518 2.2): soft hyphens, zero-width characters, controls other than
    /// spaces, variation selectors.
    private static func isMappedToNothing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F, 0x09...0x0D, 0x85: return false
        case 0x34F, 0x1806, 0x180B...0x180D, 0xFE00...0xFE0F, 0xFFFC: return true
        default: break
        }
        let category = scalar.properties.generalCategory
        return category == .control || category == .format
    }
}

extension [UInt8] {
    /// Two bytes are enough: longer names are not folded, and no folded text grows sixtyfold.
    fileprivate mutating func append(length: Int) {
        append(UInt8(truncatingIfNeeded: length >> 8))
        append(UInt8(truncatingIfNeeded: length))
    }

    fileprivate mutating func replace(length: Int, at position: Int) {
        self[position] = UInt8(truncatingIfNeeded: length >> 8)
        self[position + 1] = UInt8(truncatingIfNeeded: length)
    }
}
