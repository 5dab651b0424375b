import Crypto

package import protocol Foundation.DataProtocol

/// The SHA-256 of bytes that are neither a key nor a certificate; pins have their own types.
package enum SHA256Digest {
    /// The digest, 32 bytes.
    package static func of(_ octets: some DataProtocol) -> [UInt8] { Array(SHA256.hash(data: octets)) }
}
