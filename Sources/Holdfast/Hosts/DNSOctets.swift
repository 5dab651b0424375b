/// DNS names as bytes of IA5String, compared without regard to ASCII case.
enum DNSOctets {
    static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var others = right.makeIterator()
        for octet in left {
            guard let other = others.next(), lowercase(octet) == lowercase(other) else { return false }
        }
        return true
    }

    static func lowercase(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    /// Whether `name` is `base` or ends in `.` and `base`.
    static func isWithin(_ name: ArraySlice<UInt8>, _ base: ArraySlice<UInt8>) -> Bool {
        guard name.count >= base.count else { return false }
        let boundary = name.endIndex - base.count
        guard equal(name[boundary...], base) else { return false }
        return boundary == name.startIndex || name[boundary - 1] == UInt8(ascii: ".")
    }
}
