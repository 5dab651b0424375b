/// nameConstraints, RFC 5280 4.2.1.10: the names that certificates below a CA may have.
struct NameConstraints: Sendable {
    let permitted: [GeneralNameSlice]
    let excluded: [GeneralNameSlice]

    /// The maximum number of subtrees in one extension, well above the number that large CAs use for their customers.
    static let maximumCount = 4_096

    init(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        var fields = try DERReader(sequence: bytes, in: value)
        var permitted: [GeneralNameSlice] = []
        var excluded: [GeneralNameSlice] = []
        guard !fields.isAtEnd else {
            throw DERError(.invalidValue("nameConstraints without a subtree"), at: value.lowerBound)
        }
        if let list = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
            permitted = try Self.subtrees(list, of: bytes)
        }
        if let list = try fields.nextIfPresent(DERTag.contextConstructed(1)) {
            excluded = try Self.subtrees(list, of: bytes)
        }
        try fields.finish()
        self.permitted = permitted
        self.excluded = excluded
    }

    private static func subtrees(_ element: DERReader.Element, of bytes: [UInt8]) throws(DERError) -> [GeneralNameSlice]
    {
        var list = DERReader(bytes, in: element.content)
        guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of subtrees"), at: list.position) }
        var bases: [GeneralNameSlice] = []
        while !list.isAtEnd {
            guard bases.count < maximumCount else {
                throw DERError(.invalidValue("more than \(maximumCount) subtrees"), at: list.position)
            }
            var subtree = list.inside(try list.next(DERTag.sequence))
            bases.append(try GeneralNameSlice(try subtree.next(), of: bytes, addressSizes: [8, 32]))
            // RFC 5280: minimum must be zero, which DER leaves out, and maximum absent.
            try subtree.finish()
        }
        return bases
    }
}
