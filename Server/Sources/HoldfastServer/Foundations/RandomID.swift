import Foundation

/// 128 random bits that name a server or a change, written as 32 lower-case hexadecimal digits.
public struct RandomID: Sendable, Hashable, CustomStringConvertible {
    /// 16 octets.
    public let octets: [UInt8]

    /// Draws a new one.
    public init(using generator: inout some RandomNumberGenerator) {
        octets = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads 32 lower-case hexadecimal digits; nil for anything else.
    public init?(hex: some Collection<UInt8>) {
        guard let octets = Hex.decode(hex, count: 16) else { return nil }
        self.octets = octets
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Hex.encode(octets) }
}
