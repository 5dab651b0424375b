/// A name in a DistributionPointName (RFC 5280 4.2.1.13) in a form in which equal names have equal bytes: a name that
/// is relative to the issuer of lists is made complete, and directory names are folded (RFC 5280 7.1).
struct DistributionPointName: Sendable, Hashable {
    private let octets: OctetString

    /// Makes the form of a directory name.
    /// - Parameter work: increased by the cost of folding.
    init(_ name: DistinguishedName, work: inout Int) {
        let folded = name.folded(work: &work)
        octets = OctetString([Self.directoryName, folded == nil ? 0 : 1] + (folded?.octets ?? Array(name.der)))
    }

    private init(encoded: ArraySlice<UInt8>) { octets = OctetString(encoded) }

    /// Reads the content of `distributionPoint`, inside its explicit tag.
    /// - Parameters:
    ///   - issuer: the issuer of the point's lists, whose name completes a relative one.
    ///   - work: increased by the cost in addition to one pass over the bytes.
    static func read(
        _ explicit: DERReader.Element, of bytes: [UInt8], relativeTo issuer: DistinguishedName, work: inout Int
    ) throws(DERError) -> [DistributionPointName] {
        var choice = DERReader(bytes, in: explicit.content)
        let name = try choice.next()
        try choice.finish()
        switch name.tag {
        case DERTag.contextConstructed(0):
            var list = DERReader(bytes, in: name.content)
            guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of names"), at: list.position) }
            var names: [DistributionPointName] = []
            while !list.isAtEnd {
                guard names.count < maximumCount else {
                    throw DERError(.invalidValue("more than \(maximumCount) names"), at: list.position)
                }
                let one = try list.next()
                if one.tag == directoryName {
                    names.append(DistributionPointName(DistinguishedName(der: bytes[one.content]), work: &work))
                } else {
                    work += 1
                    names.append(DistributionPointName(encoded: bytes[one.encoded]))
                }
            }
            return names
        case DERTag.contextConstructed(1):
            guard let whole = issuer.appending(relativeName: bytes[name.content]) else {
                throw DERError(.invalidValue("a name relative to none"), at: name.encoded.lowerBound)
            }
            work += 1 + whole.der.count / 16
            return [DistributionPointName(whole, work: &work)]
        default:
            throw DERError(
                .invalidValue("a name of a distribution point of an unknown kind"), at: name.encoded.lowerBound)
        }
    }

    /// Real distribution points have one or two names.
    static let maximumCount = 64

    private static let directoryName = DERTag.contextConstructed(4)
}

extension DistinguishedName {
    /// Returns the name with one more relative name.
    /// - Parameter relativeName: the content of the SET.
    /// - Returns: nil for a name that would be longer than any authority's.
    fileprivate func appending(relativeName: ArraySlice<UInt8>) -> DistinguishedName? {
        guard der.count + relativeName.count <= Self.maximumFoldedBytes else { return nil }
        var outer = DERReader(Array(der))
        guard let names = try? outer.next(DERTag.sequence) else { return nil }
        let set = DEREncoding.element(DERTag.set, relativeName)
        return DistinguishedName(der: DEREncoding.element(DERTag.sequence, outer.bytes[names.content] + set)[...])
    }
}
