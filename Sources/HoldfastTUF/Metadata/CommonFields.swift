import Holdfast

/// The fields that the metadata of all roles has in common (section 4.3).
struct CommonFields: Sendable {
    let version: Int64
    /// The first second at which the metadata has expired, counted from 1970.
    let expires: Int64

    /// - Parameter type: the expected `_type`.
    init(_ fields: Fields, type: RoleName) throws(TUFError) {
        guard try fields.text("_type").elementsEqual(type.octets) else {
            throw TUFError(
                .wrongType, expected: "metadata of the type \(type.text)",
                found: Array(try fields.text("_type")).quotedName)
        }
        let specification = Array(try fields.text("spec_version"))
        let parts = specification.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].elementsEqual("1".utf8),
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else {
            throw TUFError(
                .unsupportedSpecification, expected: "a specification version 1.x", found: specification.quotedName)
        }
        version = try fields.integer("version", atLeast: 1)
        guard let expires = PinFileTime.read(try fields.text("expires")) else {
            throw fields.wrong("expires", "a time like 2030-01-31T00:00:00Z")
        }
        self.expires = expires
    }
}
