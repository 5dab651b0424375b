package import struct Foundation.Data

/// The functions with which a store verifies, hashes and gets random bytes: Holdfast's own, or those of a module that
/// an application must use. They may be called from several threads at once.
package struct StoreCryptography: Sendable {
    /// The check of signatures (ECDSA, SHA-256, P-256) by a key; nil if the module does not read the key.
    package let verifier: @Sendable (DocumentPublicKey) -> (any SignatureVerifying)?
    /// The SHA-256, 32 bytes.
    package let digest: @Sendable (Data) -> Data
    /// Returns this many random bytes, suitable for keys.
    package let random: @Sendable (Int) -> Data

    /// Replaces Holdfast's functions with those of another module.
    package init(
        verifier: @escaping @Sendable (DocumentPublicKey) -> (any SignatureVerifying)?,
        digest: @escaping @Sendable (Data) -> Data, random: @escaping @Sendable (Int) -> Data
    ) {
        self.verifier = verifier
        self.digest = digest
        self.random = random
    }

    /// CryptoKit on Apple's systems, swift-crypto elsewhere, and the system's generator.
    package static let standard = StoreCryptography(
        verifier: { $0 }, digest: { Data(SHA256Digest.of($0)) },
        random: { count in
            var generator = SystemRandomNumberGenerator()
            return Data((0..<max(0, count)).map { _ in UInt8.random(in: 0...255, using: &generator) })
        })
}

/// Random numbers from a store's cryptography, so that a test that replaces the cryptography controls them.
struct RandomWords: RandomNumberGenerator {
    let crypto: StoreCryptography

    mutating func next() -> UInt64 { crypto.random(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A number that has already been drawn.
struct OneWord: RandomNumberGenerator {
    let word: UInt64
    mutating func next() -> UInt64 { word }
}
