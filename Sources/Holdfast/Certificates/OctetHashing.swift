extension Hasher {
    /// Hashes octets in one piece, their number included. The arrays' own hashing goes element by element and costs more
    /// than the parsing of a certificate.
    mutating func combine(octets: ArraySlice<UInt8>) {
        combine(octets.count)
        unsafe octets.withUnsafeBytes { unsafe combine(bytes: $0) }
    }
}
