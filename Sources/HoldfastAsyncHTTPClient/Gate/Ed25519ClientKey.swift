import Crypto
import Foundation
public import NIOCore
public import NIOSSL

/// A key of Ed25519 (RFC 8032) for a client's certificate, given to a ``PinnedHTTPClient`` as its `clientKey`.
///
/// The keys of Ed25519 that NIOSSL has read cannot be read from it again, so that the client could not keep their
/// signature back until a server is trusted.
public struct Ed25519ClientKey: NIOSSLCustomPrivateKey, Hashable {
    private let octets: [UInt8]

    /// Takes the private key of RFC 8032 5.1.5. In PKCS #8 (RFC 8410 7) it is the last 32 octets if there are no
    /// attributes and no public key behind it.
    ///
    /// - Parameter octets: its 32 octets.
    /// - Throws: CryptoKit's error if there are not 32 octets.
    public init(octets: [UInt8]) throws {
        _ = try Curve25519.Signing.PrivateKey(rawRepresentation: octets)
        self.octets = octets
    }

    /// Ed25519 alone.
    public var signatureAlgorithms: [SignatureAlgorithm] { [.ed25519] }

    /// Signs what TLS says; the future has the 64 octets of the signature.
    public func sign(
        channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeCompletedFuture {
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: octets)
            return ByteBuffer(bytes: try key.signature(for: Array(data.readableBytesView)))
        }
    }

    /// Fails, because only servers decrypt.
    public func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
}
