/// `ECDSA-Sig-Value` (RFC 3279 2.2.3): the two numbers of an ECDSA signature, in DER.
///
/// The library could read it too, but its general ASN.1 reader takes several times as long.
enum ECDSASignatureValue {
    /// r and s, each as wide as a coordinate of the curve; nil unless this is the DER of two numbers that fit and are
    /// not negative.
    static func octets(of signature: ArraySlice<UInt8>, coordinateSize size: Int) -> [UInt8]? {
        let bytes = Array(signature)
        do throws(DERError) {
            var numbers = try DERReader(sequence: bytes)
            let r = try numbers.next(DERTag.integer).content
            let s = try numbers.next(DERTag.integer).content
            try numbers.finish()
            var octets: [UInt8] = []
            octets.reserveCapacity(2 * size)
            for number in [r, s] {
                guard let magnitude = magnitude(bytes[number]), magnitude.count <= size else { return nil }
                octets.append(contentsOf: repeatElement(0, count: size - magnitude.count))
                octets.append(contentsOf: magnitude)
            }
            return octets
        } catch {
            return nil
        }
    }

    /// The magnitude without the byte that only carries the sign; nil for a negative number and for one that is not in
    /// its shortest form (X.690 8.3.2).
    private static func magnitude(_ content: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let first = content.first, first < 0x80 else { return nil }
        guard first == 0 else { return content }
        let magnitude = content.dropFirst()
        guard let next = magnitude.first else { return magnitude }
        return next >= 0x80 ? magnitude : nil
    }
}
