/// Parses weights of preferences, `q=0.7` (RFC 9110 12.4.2), and whether gzip is accepted.
package enum Weight {
    /// The weight in thousandths, 0 to 1000; nil for an invalid weight.
    static func thousandths(_ text: some Collection<UInt8>) -> Int? {
        let bytes = Array(text)
        guard bytes.count >= 3, bytes[0] | 0x20 == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "=") else {
            return nil
        }
        let whole = bytes[2]
        guard whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        let digits = bytes.dropFirst(4)
        guard bytes.count == 3 || bytes[3] == UInt8(ascii: "."), digits.count <= 3,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let fraction = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let scale = [1_000, 100, 10, 1][digits.count]
        let weight = (whole == UInt8(ascii: "1") ? 1_000 : 0) + fraction * scale
        return weight <= 1_000 ? weight : nil
    }

    /// Maximum size of the header; a longer one is ignored.
    private static let maximumSize = 512

    /// Whether `Accept-Encoding` allows gzip (RFC 9110 12.5.3). A missing header does not allow it, because clients
    /// that cannot decompress send none.
    package static func acceptsGzip(_ header: some Collection<UInt8>) -> Bool {
        guard header.count <= maximumSize else { return false }
        var any = 0
        for part in Array(header).split(separator: UInt8(ascii: ","), maxSplits: 32).prefix(32) {
            let pieces = part.split(separator: UInt8(ascii: ";"), maxSplits: 2).map {
                $0.filter { $0 != 0x20 && $0 != 0x09 }
            }
            guard let coding = pieces.first, pieces.count <= 2 else { continue }
            let weight = pieces.count == 2 ? thousandths(pieces[1]) ?? 0 : 1_000
            let name = coding.map { $0 | 0x20 }
            if name.elementsEqual("gzip".utf8) || name.elementsEqual("x-gzip".utf8) { return weight > 0 }
            if coding == [UInt8(ascii: "*")] { any = weight }
        }
        return any > 0
    }
}
