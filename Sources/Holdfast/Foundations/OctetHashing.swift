extension Hasher {
    /// Hashes bytes and their count in one piece. Arrays are hashed element by element, which costs more than parsing a
    /// certificate.
    mutating func combine(octets: ArraySlice<UInt8>) {
        combine(octets.count)
        unsafe octets.withUnsafeBytes { unsafe combine(bytes: $0) }
    }
}

/// Bytes as a key of sets and dictionaries, hashed in one piece.
struct OctetString: Sendable, Hashable {
    let octets: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { self.octets = octets }

    /// Consistent with equality.
    func hash(into hasher: inout Hasher) { hasher.combine(octets: octets) }
}
