import Crypto

package import protocol Foundation.DataProtocol

/// The SHA-256 of octets, where it is neither the pin of a key nor of a certificate that is meant.
package enum SHA256Digest {
    /// 32 octets.
    package static func of(_ octets: some DataProtocol) -> [UInt8] { Array(SHA256.hash(data: octets)) }
}
