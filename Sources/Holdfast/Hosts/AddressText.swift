/// IP addresses as text. The parsers are stricter than the system's own, which accept more spellings of an address.
enum AddressText {
    /// `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`
    static let maximumIPv6Bytes = 45

    /// Four decimal numbers from 0 to 255, without leading zeros, because some readers treat those as octal.
    static func parseIPv4(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        var octets: [UInt8] = []
        var current: UInt16?
        for character in text.prefix(16) {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard current != 0 else { return nil }
                let value = (current ?? 0) * 10 + UInt16(character - UInt8(ascii: "0"))
                guard value <= 255 else { return nil }
                current = value
            case UInt8(ascii: "."):
                guard let octet = current, octets.count < 3 else { return nil }
                octets.append(UInt8(octet))
                current = nil
            default: return nil
            }
        }
        guard let octet = current, octets.count == 3 else { return nil }
        return octets + [UInt8(octet)]
    }

    /// RFC 4291 2.2: eight groups of one to four hexadecimal digits, one run of them as `::`, the last two as IPv4.
    static func parseIPv6(_ text: Substring.UTF8View) -> [UInt8]? {
        guard text.count <= maximumIPv6Bytes else { return nil }
        let colon = UInt8(ascii: ":")
        var head: [UInt8] = []
        var tail: [UInt8]?
        var rest = text
        if rest.starts(with: "::".utf8) {
            tail = []
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != colon }
            rest = rest[group.endIndex...]
            let octets: [UInt8]
            if rest.isEmpty, let ipv4 = parseIPv4(group) {
                octets = ipv4
            } else if let value = hexadecimalGroup(group) {
                octets = [UInt8(value >> 8), UInt8(value & 0xFF)]
            } else {
                return nil
            }
            if tail == nil { head += octets } else { tail?.append(contentsOf: octets) }
            guard !rest.isEmpty else { break }
            if rest.starts(with: "::".utf8) {
                guard tail == nil else { return nil }
                tail = []
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return nil }
            }
        }
        guard let tail else { return head.count == 16 ? head : nil }
        // `::` stands for at least one group (writers use it for two or more, RFC 5952 4.2.2, but readers accept one).
        guard head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func hexadecimalGroup(_ group: Substring.UTF8View) -> UInt16? {
        guard (1...4).contains(group.count) else { return nil }
        var value: UInt16 = 0
        for character in group {
            guard let digit = Hexadecimal.value(of: character) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    static func ipv4(_ octets: some Sequence<UInt8>) -> String { octets.map { String($0) }.joined(separator: ".") }

    /// RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups as `::`, the first if several
    /// are equally long; an IPv4-mapped address with its IPv4 part in decimal.
    static func ipv6(_ octets: [UInt8]) -> String {
        if octets.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return "::ffff:" + ipv4(octets.dropFirst(12))
        }
        let groups = stride(from: 0, to: octets.count - 1, by: 2).map {
            UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
        }
        var longest = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > longest.count { longest = start..<index }
            start = index + 1
        }
        let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard longest.count >= 2 else { return text(groups[...]) }
        return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
    }
}
