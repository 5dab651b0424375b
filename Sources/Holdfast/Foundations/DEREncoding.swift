/// Writes elements of DER (X.690 8.1, 10.1) around content that is DER already.
enum DEREncoding {
    /// One element, its length in the shortest form.
    static func element(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
        var element: [UInt8] = [tag]
        element.reserveCapacity(content.count + 6)
        if content.count < 0x80 {
            element.append(UInt8(truncatingIfNeeded: content.count))
        } else {
            var octets: [UInt8] = []
            var rest = content.count
            while rest > 0 {
                octets.insert(UInt8(truncatingIfNeeded: rest), at: 0)
                rest >>= 8
            }
            element.append(0x80 | UInt8(truncatingIfNeeded: octets.count))
            element += octets
        }
        element += content
        return element
    }
}
