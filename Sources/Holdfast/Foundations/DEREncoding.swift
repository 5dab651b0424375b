/// Writes elements of DER (X.690 8.1, 10.1) around content that is DER already.
enum DEREncoding {
    static func element(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    /// The encoding of a length in its shortest form.
    static func length(_ length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [UInt8(truncatingIfNeeded: length)] }
        let octets = (length.bitWidth - length.leadingZeroBitCount + 7) / 8
        return [0x80 | UInt8(truncatingIfNeeded: octets)]
            + (0..<octets).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    }
}
