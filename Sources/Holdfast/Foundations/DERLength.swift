/// What the octets of a long length say (X.690 8.1.3.5), in any integer: where `Int` has 32 bits, four octets do not fit.
enum DERLength {
    /// nil for a length that the integer cannot hold.
    static func value<Integer: FixedWidthInteger>(
        of octets: ArraySlice<UInt8>, as: Integer.Type = Integer.self
    ) -> Integer? {
        var value: Integer = 0
        for octet in octets {
            guard let octet = Integer(exactly: octet) else { return nil }
            let (shifted, isTooLarge) = value.multipliedReportingOverflow(by: 256)
            guard !isTooLarge else { return nil }
            value = shifted | octet
        }
        return value
    }
}
