/// Octets as lower-case hexadecimal digits.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two digits for each octet, with nothing between.
    package static func encode(_ octets: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(octets.count * 2)
        for octet in octets {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 0x0F)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
