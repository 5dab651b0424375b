package import ServerFoundation

/// A bearer token for the administration's listener: 256 random bits, as `holdfast_` and 64 hexadecimal digits. The
/// server stores only its digest. A fast digest is enough, because random bits cannot be guessed.
package struct AccessToken: Sendable {
    private let bytes: [UInt8]

    private static let prefix = "holdfast_"

    /// Generates a token.
    package init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Parses a token; nil for any other text.
    package init?(_ text: some Collection<UInt8>) {
        guard text.starts(with: Self.prefix.utf8),
            let bytes = Hex.decode(text.dropFirst(Self.prefix.utf8.count), count: 32)
        else { return nil }
        self.bytes = bytes
    }

    /// The text, displayed once to the person who made it. The type has no description, so that no log contains it.
    package var secretText: String { Self.prefix + Hex.encode(bytes) }

    /// The digest that the server stores.
    package var digest: Digest { Digest(of: bytes) }
}
