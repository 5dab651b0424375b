/// basicConstraints, RFC 5280 4.2.1.9: whether a certificate is a CA, and how many intermediates may follow it.
package struct BasicConstraints: Sendable, Equatable {
    /// Whether the subject is a CA.
    package let isCertificateAuthority: Bool
    /// The maximum number of intermediates; nil if the certificate sets no limit.
    let pathLength: Int?

    init(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        var fields = try DERReader(sequence: bytes, in: value)
        var isCertificateAuthority = false
        if let flag = try fields.nextIfPresent(DERTag.boolean) {
            isCertificateAuthority = try CertificateExtension.boolean(flag, of: bytes)
        }
        var pathLength: Int?
        if let limit = try fields.nextIfPresent(DERTag.integer) {
            let octets = bytes[limit.content]
            // No chain is longer than 32 bits can count; RFC 5280 has no negative limit.
            guard let first = octets.first, first < 0x80, octets.count <= 4 else {
                throw DERError(.invalidValue("a pathLenConstraint out of range"), at: limit.encoded.lowerBound)
            }
            pathLength = octets.reduce(0) { $0 << 8 | Int($1) }
        }
        try fields.finish()
        self.isCertificateAuthority = isCertificateAuthority
        self.pathLength = pathLength
    }
}
