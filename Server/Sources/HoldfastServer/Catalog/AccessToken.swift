/// What somebody shows at the administration's listener: 256 random bits, as `holdfast_` and 64 hexadecimal digits. The
/// server keeps its digest only. The bits are random, so a fast digest is enough: there is nothing to guess.
public struct AccessToken: Sendable {
    private let bytes: [UInt8]

    private static let prefix = "holdfast_"

    /// Draws a new one.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads a token; nil for anything that is not one.
    public init?(_ text: some Collection<UInt8>) {
        guard text.starts(with: Self.prefix.utf8),
            let bytes = Hex.decode(text.dropFirst(Self.prefix.utf8.count), count: 32)
        else { return nil }
        self.bytes = bytes
    }

    /// The text, which is shown once to whoever made it. The type has no description, so that no log has it by mistake.
    public var secretText: String { Self.prefix + Hex.encode(bytes) }

    /// What the server knows it by.
    public var digest: Digest { Digest(of: bytes) }
}
