import Crypto
import Foundation

/// A SHA-256 digest, the identity of contents, texts and keys.
public struct Digest: Sendable, Hashable, CustomStringConvertible {
    /// 32 octets.
    public let octets: [UInt8]

    /// The digest of octets.
    public init(of octets: some Sequence<UInt8>) { self.octets = Array(SHA256.hash(data: Array(octets))) }

    private init(unchecked octets: [UInt8]) { self.octets = octets }

    /// Reads 64 lower-case hexadecimal digits; nil for anything else.
    public init?(hex: some Collection<UInt8>) {
        guard let octets = Hex.decode(hex, count: 32) else { return nil }
        self.init(unchecked: octets)
    }

    /// Takes a digest that was stored; nil unless it has 32 octets.
    public init?(octets: [UInt8]) {
        guard octets.count == 32 else { return nil }
        self.init(unchecked: octets)
    }

    /// What comes before the first of a chain: 32 zero octets.
    static let nothing = Digest(unchecked: [UInt8](repeating: 0, count: 32))

    /// Equality in a time that says nothing about where both differ.
    func isSame(as other: Digest) -> Bool {
        zip(octets, other.octets).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 64 lower-case hexadecimal digits.
    public var description: String { Hex.encode(octets) }
}
