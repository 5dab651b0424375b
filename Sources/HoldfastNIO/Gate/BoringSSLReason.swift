package import Holdfast
import NIOSSL

/// Parses BoringSSL's text about a failed handshake, because NIOSSL exposes nothing else. No other code does that.
package enum BoringSSLReason {
    /// The names in the error, such as `CERTIFICATE_VERIFY_FAILED`, in the order in which they were reported; empty for
    /// an error that is not from BoringSSL.
    package static func names(in error: any Error) -> [String] {
        guard case .handshakeFailed(.sslError(let stack))? = error as? NIOSSLError else { return [] }
        return stack.compactMap { error in
            // Error: 268435648 error:100000c0:SSL routines:OPENSSL_internal:PEER_DID_NOT_RETURN_A_CERTIFICATE at …
            "\(error)".firstMatch(of: /OPENSSL_internal:(\w+)/).map { String($0.1) }
        }
    }

    /// Whether a server ended the handshake because its client has no certificate.
    static func isMissingCertificate(_ error: any Error) -> Bool {
        names(in: error).contains("PEER_DID_NOT_RETURN_A_CERTIFICATE")
    }

    /// The refusal of a peer whose keyUsage forbids how the handshake uses its key (RFC 8446 4.4.2.2, RFC 5246 7.4.2),
    /// which only TLS can detect; nil for another error.
    package static func keyUsageRefusal(
        _ error: any Error, host: DialedHost? = nil, chain: PresentedChain? = nil
    ) -> TrustFailure? {
        guard names(in: error).contains("KEY_USAGE_BIT_INCORRECT") else { return nil }
        return TrustFailure(
            .keyUsageForbidsTLS,
            expected: "keyUsage digitalSignature, or keyEncipherment if the cipher suite has static RSA",
            found: "a keyUsage without it", host: host, chain: chain)
    }
}
