import NIOSSL

/// What BoringSSL's lines of text say about a handshake that failed: NIOSSL hands on nothing but the text. Nowhere else is
/// it looked into.
package enum BoringSSLReason {
    /// The names in the error, such as `CERTIFICATE_VERIFY_FAILED`, the first to be reported first; empty for an error
    /// that is not of BoringSSL's.
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
}
