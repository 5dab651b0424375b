import Foundation

/// A name in the form in which names compare by RFC 5280 section 7.1: octets that are equal for equal names, and that
/// begin with those of every name in whose subtree it lies.
///
/// Folding costs more than all else that is done to a name. Whoever compares names folds each once, and charges what
/// folding reports.
struct FoldedName: Sendable, Hashable {
    let octets: [UInt8]

    /// Consistent with equality.
    func hash(into hasher: inout Hasher) { hasher.combine(octets: octets[...]) }

    /// Whether the first relative names are all of those of `base`. Each relative name stands behind its own length, so
    /// that a prefix of octets is one of names.
    func isWithin(_ base: FoldedName) -> Bool {
        octets.count >= base.octets.count && octets[..<base.octets.count] == base.octets[...]
    }

    /// What one comparison with another name costs, in the unit of ``ValidationLimits/work``.
    var comparisonWork: Int { 1 + octets.count / 16 }
}

extension DistinguishedName {
    /// Longer names than any authority's are compared octet by octet only.
    static let maximumFoldedBytes = 1_024

    /// nil for a name that cannot be read, is longer than any authority's, or has text that cannot be folded.
    var folded: FoldedName? {
        var work = 0
        return folded(work: &work)
    }

    /// - Parameter work: grows by what folding costs, in the unit of ``ValidationLimits/work``.
    func folded(work: inout Int) -> FoldedName? {
        work += 2
        guard der.count <= Self.maximumFoldedBytes else { return nil }
        work += der.count / 4
        guard let names = relativeNames else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(der.count + 4 * names.count)
        for name in names {
            work += 3 + 8 * name.count
            var attributes: [[UInt8]] = []
            for attribute in name {
                guard let folded = attribute.folded(work: &work) else { return nil }
                attributes.append(folded)
            }
            if attributes.count > 1 {
                attributes.sort { $0.lexicographicallyPrecedes($1) }
                // A set holds no element twice, whatever the DER says.
                var last: [UInt8]?
                attributes = attributes.filter { one in
                    defer { last = one }
                    return one != last
                }
                work += 8 * attributes.count
            }
            octets.append(length: attributes.count)
            for attribute in attributes { octets += attribute }
        }
        return FoldedName(octets: octets)
    }
}

extension DistinguishedName.Attribute {
    /// Text beyond ASCII that is longer than this is not folded: names have at most 64 characters (RFC 5280, upper bounds).
    private static let maximumInternationalBytes = 512
    /// How much longer than it was a text may come out of Unicode's normalization.
    private static let maximumGrowth = 3

    /// Type, kind and value, each behind its length; text without regard to case, runs of spaces and the string type. nil
    /// for text beyond ASCII that is too long or that grows when it is normalized.
    fileprivate func folded(work: inout Int) -> [UInt8]? {
        let text: (tag: UInt8, octets: [UInt8])
        if Self.isASCIISuperset(tag), value.allSatisfy({ $0 < 0x80 }) {
            text = (0x0C, Self.foldedASCII(value))
        } else if value.count <= Self.maximumInternationalBytes, let read = Self.text(tag: tag, value: value) {
            guard let folded = Self.foldedText(read, work: &work) else { return nil }
            text = (0x0C, folded)
        } else if Self.isText(tag), value.count > Self.maximumInternationalBytes {
            return nil
        } else {
            text = (tag, value)
        }
        var octets: [UInt8] = []
        octets.reserveCapacity(type.count + text.octets.count + 6)
        octets.append(length: type.count)
        octets += type
        octets += [text.tag]
        octets.append(length: text.octets.count)
        octets += text.octets
        return octets
    }

    private static func isText(_ tag: UInt8) -> Bool { isASCIISuperset(tag) || tag == 0x1E || tag == 0x1C }

    /// UTF8, Numeric, Printable, Teletex, IA5, VisibleString: where an octet below 128 is a character of ASCII.
    static func isASCIISuperset(_ tag: UInt8) -> Bool {
        switch tag {
        case 0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A: true
        default: false
        }
    }

    /// Nearly every name: what ``foldedText(_:work:)`` makes of it, without Unicode's tables.
    private static func foldedASCII(_ value: [UInt8]) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(value.count)
        var isSpaced = false
        for octet in value {
            switch octet {
            case 0x20, 0x09...0x0D: isSpaced = true
            case 0x00...0x1F, 0x7F: continue
            default:
                if isSpaced, !octets.isEmpty { octets.append(0x20) }
                isSpaced = false
                octets.append(DNSOctets.lowercase(octet))
            }
        }
        return octets
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
        // Measured: some 100 ns for each octet of text that goes in or comes out.
        work += 2 * (text.utf8.count + folded.utf8.count)
        return folded.utf8.count <= maximumGrowth * stripped.utf8.count ? octets : nil
    }

    /// What stringprep leaves out of a comparison (RFC 4518 2.2): soft hyphens, what has no width, controls that are
    /// no spaces, variation selectors.
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
    /// Two octets do: longer names are not folded, and what is folded does not grow sixtyfold.
    fileprivate mutating func append(length: Int) {
        append(UInt8(truncatingIfNeeded: length >> 8))
        append(UInt8(truncatingIfNeeded: length))
    }
}
