/// Certificates made byte by byte, so that each test says what it breaks.
enum HandMadeDER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap(\.self)) }

    static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var octets: [UInt8] = []
        var rest = count
        while rest > 0 {
            octets.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(octets.count)] + octets
    }

    static let version3 = element(0xA0, element(0x02, [2]))
    static let algorithm = sequence(element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
    static let validity = sequence(
        element(0x17, Array("200101000000Z".utf8)), element(0x17, Array("300101000000Z".utf8)))

    static func key(_ octets: [UInt8] = [1, 2, 3, 4]) -> [UInt8] {
        sequence(algorithm, element(0x03, [0] + octets))
    }

    static func certificate(
        version: [UInt8] = version3, serial: [UInt8] = element(0x02, [1]), issuer: [UInt8] = sequence(),
        subject: [UInt8] = sequence(), key: [UInt8] = key(), afterKey: [UInt8] = []
    ) -> [UInt8] {
        let signed = element(0x30, version + serial + algorithm + issuer + validity + subject + key + afterKey)
        return sequence(signed, algorithm, element(0x03, [0, 9, 9]))
    }
}
