import Crypto
import Foundation

/// A SHA-256 digest, the identity of contents, texts and keys.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// Computes the digest of bytes.
    package init(of bytes: some Sequence<UInt8>) { self.bytes = Array(SHA256.hash(data: Array(bytes))) }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Reads 64 lower-case hexadecimal digits; nil for anything else.
    package init?(hex: some Collection<UInt8>) {
        guard let bytes = Hex.decode(hex, count: 32) else { return nil }
        self.init(unchecked: bytes)
    }

    /// Reads a stored digest; nil unless it has 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.init(unchecked: bytes)
    }

    /// The predecessor of the first element of a chain: 32 zero bytes.
    package static let nothing = Digest(unchecked: [UInt8](repeating: 0, count: 32))

    /// Whether two digests are equal, compared in constant time.
    package func isSame(as other: Digest) -> Bool {
        zip(bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String { Hex.encode(bytes) }
}
