import Foundation

/// 128 random bits that name a server or a change, written as 32 lower-case hexadecimal digits.
package struct RandomID: Sendable, Hashable, CustomStringConvertible {
    /// 16 bytes.
    package let bytes: [UInt8]

    /// Generates an id.
    package init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads 32 lower-case hexadecimal digits; nil for anything else.
    package init?(hex: some Collection<UInt8>) {
        guard let bytes = Hex.decode(hex, count: 16) else { return nil }
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String { Hex.encode(bytes) }
}
