/// The public operation of RSA (RFC 8017 5.2.2): a signature to the power of the public exponent, modulo the modulus.
///
/// It handles only public values, so its timing may depend on them. Numbers are limbs of 32 bits, the lowest first,
/// multiplied by Montgomery's method.
struct RSAPublicOperation {
    private let modulus: [UInt32]
    private let exponent: [UInt8]
    /// -1 / modulus modulo 2^32.
    private let inverse: UInt32
    /// The number of bytes of the modulus.
    let byteCount: Int
    let bitCount: Int

    /// - Returns: nil for an even modulus, or an exponent above 33 bits, BoringSSL's limit, which would only cost time.
    init?(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        let significant = modulus.drop { $0 == 0 }
        let power = exponent.drop { $0 == 0 }
        guard let first = significant.first, let last = significant.last, last & 1 == 1,
            (256...1_024).contains(significant.count), let high = power.first,
            power.count < 5 || power.count == 5 && high < 2
        else { return nil }
        byteCount = significant.count
        bitCount = significant.count * 8 - first.leadingZeroBitCount
        self.modulus = Self.limbs(significant, count: (significant.count + 3) / 4)
        self.exponent = Array(power)
        var inverse: UInt32 = 1
        // Newton: each step doubles the number of correct bits.
        for _ in 0..<5 { inverse = Self.lowHalf(inverse, 2 &- Self.lowHalf(self.modulus[0], inverse)) }
        self.inverse = 0 &- inverse
    }

    /// The message; nil for a signature that has another length than the modulus or is not below it.
    func message(of signature: ArraySlice<UInt8>) -> [UInt8]? {
        guard signature.count == byteCount else { return nil }
        let base = Self.limbs(signature, count: modulus.count)
        guard Self.isLess(base, modulus) else { return nil }
        var one = [UInt32](repeating: 0, count: modulus.count)
        one[0] = 1
        let factor = multiply(base, squareOfRadix())
        var result = factor
        var isFirst = true
        for octet in exponent {
            for bit in (0..<8).reversed() {
                let isSet = octet >> UInt8(bit) & 1 == 1
                if isFirst {
                    isFirst = !isSet
                    continue
                }
                result = multiply(result, result)
                if isSet { result = multiply(result, factor) }
            }
        }
        let plain = multiply(result, one)
        return (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: plain[$0 / 4] >> UInt32($0 % 4 * 8)) }
    }

    /// R * R modulo the modulus, for R = 2^(32 * limbs), computed by doubling 1.
    private func squareOfRadix() -> [UInt32] {
        var value = [UInt32](repeating: 0, count: modulus.count)
        value[0] = 1
        for _ in 0..<(64 * modulus.count) {
            var carry: UInt32 = 0
            for index in value.indices {
                let next = value[index] >> 31
                value[index] = value[index] << 1 | carry
                carry = next
            }
            if carry == 1 || !Self.isLess(value, modulus) { subtractModulus(from: &value) }
        }
        return value
    }

    /// left * right / R modulo the modulus.
    private func multiply(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        let count = modulus.count
        var sum = [UInt32](repeating: 0, count: count + 2)
        for limb in right {
            var carry: UInt64 = 0
            for index in 0..<count {
                // At most 2^64 - 1, exactly.
                let term = UInt64(sum[index]) + UInt64(left[index]) * UInt64(limb) + carry
                sum[index] = UInt32(truncatingIfNeeded: term)
                carry = term >> 32
            }
            let top = UInt64(sum[count]) + carry
            sum[count] = UInt32(truncatingIfNeeded: top)
            sum[count + 1] = UInt32(truncatingIfNeeded: top >> 32)
            let factor = UInt64(Self.lowHalf(sum[0], inverse))
            carry = (UInt64(sum[0]) + factor * UInt64(modulus[0])) >> 32
            for index in 1..<count {
                let term = UInt64(sum[index]) + factor * UInt64(modulus[index]) + carry
                sum[index - 1] = UInt32(truncatingIfNeeded: term)
                carry = term >> 32
            }
            let rest = UInt64(sum[count]) + carry
            sum[count - 1] = UInt32(truncatingIfNeeded: rest)
            sum[count] = sum[count + 1] &+ UInt32(truncatingIfNeeded: rest >> 32)
        }
        var result = Array(sum[..<count])
        if sum[count] != 0 || !Self.isLess(result, modulus) { subtractModulus(from: &result) }
        return result
    }

    private func subtractModulus(from value: inout [UInt32]) {
        var borrow = false
        for index in value.indices {
            let (first, under) = value[index].subtractingReportingOverflow(modulus[index])
            let (second, again) = first.subtractingReportingOverflow(borrow ? 1 : 0)
            value[index] = second
            borrow = under || again
        }
    }

    private static func isLess(_ left: [UInt32], _ right: [UInt32]) -> Bool {
        for index in left.indices.reversed() where left[index] != right[index] { return left[index] < right[index] }
        return false
    }

    /// The product modulo 2^32. For `&*` the compiler may pick a declaration that needs iOS 18.
    private static func lowHalf(_ left: UInt32, _ right: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt64(left) * UInt64(right))
    }

    private static func limbs(_ octets: ArraySlice<UInt8>, count: Int) -> [UInt32] {
        var limbs = [UInt32](repeating: 0, count: count)
        for (place, octet) in octets.reversed().enumerated() {
            limbs[place / 4] |= UInt32(octet) << UInt32(place % 4 * 8)
        }
        return limbs
    }
}
