/// Limits for reading one certificate.
package enum CertificateLimits {
    /// Octets of one certificate. OpenSSL and BoringSSL refuse a peer's Certificate message, the whole chain, above
    /// 100 KiB by default (`SSL_MAX_CERT_LIST_DEFAULT`), so no larger certificate works on the public internet; what
    /// is read from a file gets a little more than twice that.
    package static let maximumBytes = 262_144
}
