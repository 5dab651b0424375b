/// RSASSA-PSS (RFC 8017 8.1.2, 9.1.2) with a salt of any length.
///
/// The cryptographic library verifies only empty salts and salts of the digest's length, as certificates have them; by
/// default, openssl signs messages with the longest salt that fits the key.
struct PSSVerification: Sendable, Equatable {
    let digest: CertificateSignatureAlgorithm.Digest
    let saltLength: Int

    func verifies(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, modulus: ArraySlice<UInt8>,
        exponent: ArraySlice<UInt8>
    ) -> Bool {
        guard let operation = RSAPublicOperation(modulus: modulus, exponent: exponent),
            var encoded = operation.message(of: signature)
        else { return false }
        let bits = operation.bitCount - 1
        // The encoded message is one byte shorter than the modulus if its first byte would have no bits.
        if bits % 8 == 0 {
            guard encoded.removeFirst() == 0 else { return false }
        }
        return isEncoding(encoded[...], bits: bits, of: message)
    }

    /// EMSA-PSS-VERIFY (RFC 8017 9.1.2).
    private func isEncoding(_ encoded: ArraySlice<UInt8>, bits: Int, of message: ArraySlice<UInt8>) -> Bool {
        let messageHash = hash(message)
        let hashLength = messageHash.count
        guard encoded.count >= hashLength + saltLength + 2, encoded.last == 0xBC else { return false }
        let masked = encoded.dropLast(hashLength + 1)
        let expected = encoded.dropLast().suffix(hashLength)
        let unused = 8 * encoded.count - bits
        let allowed = UInt8(truncatingIfNeeded: 0xFF >> unused)
        guard let first = masked.first, first & ~allowed == 0 else { return false }
        var block = zip(masked, mask(expected, count: masked.count)).map { $0 ^ $1 }
        block[0] &= allowed
        let padding = block.count - saltLength - 1
        guard block[..<padding].allSatisfy({ $0 == 0 }), block[padding] == 1 else { return false }
        let salted = [UInt8](repeating: 0, count: 8) + messageHash + block[(padding + 1)...]
        return hash(salted[...]).elementsEqual(expected)
    }

    /// MGF1 (RFC 8017 B.2.1).
    private func mask(_ seed: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt32 = 0
        while mask.count < count {
            let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
            mask += hash((seed + octets)[...])
            counter += 1
        }
        return Array(mask.prefix(count))
    }

    private func hash(_ octets: ArraySlice<UInt8>) -> [UInt8] { digest.hash(octets) }
}
