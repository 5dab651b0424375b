/// keyUsage, RFC 5280 4.2.1.3, as the bits that are set.
struct KeyUsage: OptionSet, Sendable {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    static let digitalSignature = KeyUsage(bit: 0)
    static let nonRepudiation = KeyUsage(bit: 1)
    static let keyEncipherment = KeyUsage(bit: 2)
    static let dataEncipherment = KeyUsage(bit: 3)
    static let keyAgreement = KeyUsage(bit: 4)
    static let keyCertSign = KeyUsage(bit: 5)
    static let cRLSign = KeyUsage(bit: 6)

    /// Bit 0 is the first bit of the BIT STRING, the most significant one of its first byte.
    private init(bit: UInt16) { rawValue = 0x8000 >> bit }

    init(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        let string = try DERReader.only(DERTag.bitString, of: bytes, in: value)
        let octets = Array(bytes[string.content])
        guard (1...3).contains(octets.count), octets[0] < 8, octets.count > 1 || octets[0] == 0 else {
            throw DERError(.invalidValue("a keyUsage that is no BIT STRING of nine bits"), at: value.lowerBound)
        }
        rawValue = UInt16(octets.count > 1 ? octets[1] : 0) << 8 | UInt16(octets.count > 2 ? octets[2] : 0)
    }
}
