import Crypto

package import protocol Foundation.DataProtocol

/// The SHA-256 of octets that are neither a key nor a certificate; pins have their own types.
package enum SHA256Digest {
    /// 32 octets.
    package static func of(_ octets: some DataProtocol) -> [UInt8] { Array(SHA256.hash(data: octets)) }
}
