/// The `ECDSA-Sig-Value` of a signature on P-256 (RFC 3279 2.2.3).
///
/// swift-crypto makes one as well, with BoringSSL's big numbers. For a server that signs each of its answers, that
/// takes a quarter of the time of the signature.
struct ECDSASignatureValue: Sendable, Hashable {
    /// A SEQUENCE of two INTEGERs, each with as few bytes as it needs. It has at most 72 bytes, so each length is one
    /// byte.
    let der: [UInt8]

    /// - Parameter raw: r and s, each big-endian in 32 bytes.
    init(_ raw: [UInt8]) {
        let half = raw.count / 2
        var content: [UInt8] = []
        content.reserveCapacity(raw.count + 8)
        for number in [raw[..<half], raw[half...]] {
            let first = number.firstIndex { $0 != 0 } ?? max(number.startIndex, number.endIndex - 1)
            let significant = number[first...]
            // If the first bit were set, the number would be negative.
            let padding: [UInt8] = significant.first.map { $0 >= 0x80 } ?? true ? [0] : []
            content += [0x02, UInt8(padding.count + significant.count)]
            content += padding
            content += significant
        }
        der = [0x30, UInt8(content.count)] + content
    }
}
