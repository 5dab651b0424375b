import Holdfast

/// A block of IP addresses with a common prefix (CIDR, RFC 4632).
public struct AddressBlock: Hashable, Sendable {
    /// The first address of the block.
    public let first: IPAddress
    /// The number of leading bits that all its addresses have in common.
    public let prefixLength: Int

    /// Reads `192.0.2.0/24` or `2001:db8::/32`; a single address is read as a block of one.
    /// - Throws: ``ProbeConfigurationError`` with `invalidAddress`, also if the address has bits after the prefix,
    ///   which suggests that another block was meant.
    public init(_ text: String) throws(ProbeConfigurationError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let address = try IPAddress(String(parts[0]))
        let bits = address.octets.count * 8
        var length = bits
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                digits.count == 1 || digits.first != UInt8(ascii: "0"), let number = Int(parts[1]), number <= bits
            else {
                throw ProbeConfigurationError(
                    .invalidAddress, expected: "a prefix length from 0 to \(bits)", found: text.quoted)
            }
            length = number
        }
        guard Self.leading(length, of: address.octets) == address.octets else {
            throw ProbeConfigurationError(
                .invalidAddress, expected: "an address without bits after the first \(length)", found: text.quoted)
        }
        first = address
        prefixLength = length
    }

    /// - Parameter prefix: the leading bytes of the block; the rest is zero.
    init(_ family: IPAddress.Family, _ prefix: [UInt8], _ length: Int) {
        let count = family == .ipv4 ? 4 : 16
        first = IPAddress(padding: prefix, to: count)
        prefixLength = min(length, count * 8)
    }

    /// Whether the block contains this address. An IPv4 address is in no IPv6 block, however it is embedded.
    public func contains(_ address: IPAddress) -> Bool {
        address.family == first.family && Self.leading(prefixLength, of: address.octets) == first.octets
    }

    private static func leading(_ length: Int, of octets: [UInt8]) -> [UInt8] {
        octets.enumerated().map { index, octet in
            let bits = min(max(length - index * 8, 0), 8)
            return octet & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
    }
}

extension AddressBlock: CustomStringConvertible {
    /// `192.0.2.0/24`.
    public var description: String { "\(first)/\(prefixLength)" }
}

extension IPAddress {
    fileprivate init(padding prefix: [UInt8], to count: Int) {
        octets = prefix.prefix(count) + Array(repeating: 0, count: max(0, count - prefix.count))
    }
}
