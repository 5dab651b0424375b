/// Limits for reading one certificate.
package enum CertificateLimits {
    /// Maximum number of bytes of one certificate. OpenSSL and BoringSSL refuse a peer's Certificate message, the whole
    /// chain, above 100 KiB by default (`SSL_MAX_CERT_LIST_DEFAULT`), so no larger certificate works on the public
    /// internet. The limit is a little more than twice that, for certificates from files.
    package static let maximumBytes = 262_144

    /// - Throws: ``CertificateError`` `tooLarge` above the limit.
    package static func check(_ der: [UInt8], field: String) throws(CertificateError) {
        guard der.count > maximumBytes else { return }
        throw CertificateError(
            .tooLarge, field: field, expected: "at most \(maximumBytes) bytes", found: "\(der.count) bytes")
    }
}
