import Crypto
import Foundation

/// A SHA-256 digest, the identity of contents, texts and keys.
public struct Digest: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// The digest of bytes.
    public init(of bytes: some Sequence<UInt8>) { self.bytes = Array(SHA256.hash(data: Array(bytes))) }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Reads 64 lower-case hexadecimal digits; nil for anything else.
    public init?(hex: some Collection<UInt8>) {
        guard let bytes = Hex.decode(hex, count: 32) else { return nil }
        self.init(unchecked: bytes)
    }

    /// Takes a digest that was stored; nil unless it has 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.init(unchecked: bytes)
    }

    /// What comes before the first of a chain: 32 zero bytes.
    static let nothing = Digest(unchecked: [UInt8](repeating: 0, count: 32))

    /// Equality in a time that says nothing about where both differ.
    func isSame(as other: Digest) -> Bool {
        zip(bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 64 lower-case hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
