public import Holdfast

public import struct Foundation.Date

/// The check of a host's own certificate before anything is signed, pinned or announced for it: it is an end-entity
/// certificate, it is for the host, clients accept its key, it has not expired, and its chain validates. A signer
/// without such a check would accept a CA certificate, and with it every other key that the authority certifies.
///
/// ```swift
/// let check = HostCertificateCheck(validator: PathValidator(anchors: anchors))
/// let certificate = try check.verify(chain, for: "www.example.com", at: clock.now).certificate
/// ```
/// It performs no I/O. ``HostKeyCheck`` checks keys without a certificate.
public struct HostCertificateCheck: Sendable {
    /// A certificate that passed the check.
    public struct Passed: Sendable {
        /// The certificate.
        public let certificate: X509Certificate
        /// Its valid path; nil if its chain does not validate, or was not validated.
        public let path: ValidatedPath?
        /// Why its chain does not validate, if that was allowed; nil if it validates.
        public let untrusted: TrustFailure?
    }

    /// Validates the chains; nil for hosts that are pinned without validation, and if no anchors are known.
    public let validator: (any ChainValidator)?
    /// Whether a chain that does not validate is accepted; everything else is still checked.
    public let allowsUntrusted: Bool

    /// Makes a check.
    /// - Parameters:
    ///   - validator: validates chains against its anchors; nil to leave chains unchecked.
    ///   - allowsUntrusted: whether a chain that does not validate is accepted, for example one that ends in a
    ///     self-signed certificate.
    public init(validator: (any ChainValidator)?, allowsUntrusted: Bool = false) {
        self.validator = validator
        self.allowsUntrusted = allowsUntrusted
    }

    /// Checks a certificate for a name, at the later of a time and the certificate's notBefore, because a prepared
    /// certificate may not be valid yet.
    /// - Parameters:
    ///   - chain: the certificate, and the issuers that were sent or given with it.
    ///   - name: a host; or a pattern, which the certificate must have in its subjectAltName as it is written here,
    ///     ignoring case; or another text, which must be a name in its subjectAltName or its common name. A text that
    ///     is not a host is an operator's own choice, so a CA certificate is accepted for it.
    ///   - time: the current time.
    /// - Throws: ``HostCheckError``.
    public func verify(_ chain: PresentedChain, for name: String, at time: Date) throws(HostCheckError) -> Passed {
        let certificate: X509Certificate
        do throws(CertificateError) {
            certificate = try X509Certificate(der: chain.leaf ?? [])
        } catch {
            throw HostCheckError(.unreadable, name: name, expected: error.expected, found: error.found)
        }
        let subject = HostCertificateRule.Subject(
            certificate: certificate, chain: chain, name: name, time: time,
            isSelfSignedAccepted: allowsUntrusted || validator == nil)
        for rule in HostCertificateRule.all {
            if let error = rule.violation(subject) { throw error }
        }
        guard let validator else { return Passed(certificate: certificate, path: nil, untrusted: nil) }
        let outcome = validator.validate(
            chain, for: .server(identity: subject.host), at: max(time, certificate.notBefore)
        ) { _ in true }
        if let path = outcome.path { return Passed(certificate: certificate, path: path, untrusted: nil) }
        let failure =
            outcome.failure
            ?? TrustFailure(.unknownIssuer, expected: "a valid path to an anchor", found: "none")
        guard allowsUntrusted else {
            throw HostCheckError(
                .untrusted, name: name, expected: "a valid chain, which means \(failure.expected)",
                found: "\(failure.found) (\(failure.code.rawValue))", failure: failure)
        }
        return Passed(certificate: certificate, path: nil, untrusted: failure)
    }

    /// Whether the signature of a certificate verifies under the key of another, which proves that the other is its
    /// issuer. Anyone can present certificates in any order, and make one with the public key of another person.
    /// - Parameters:
    ///   - certificate: DER.
    ///   - issuer: DER.
    public static func isSigned(_ certificate: [UInt8], by issuer: [UInt8]) -> Bool {
        guard let certificate = try? X509Certificate(der: certificate), let issuer = try? X509Certificate(der: issuer)
        else { return false }
        return certificate.isSigned(by: issuer)
    }

    /// Checks that the first certificate of a chain is not a CA certificate, regardless of its names.
    /// - Throws: ``HostCheckError`` `notEndEntity`.
    func verifyEndEntity(_ certificates: [X509Certificate], named name: String) throws(HostCheckError) {
        guard let certificate = certificates.first else { return }
        let subject = HostCertificateRule.Subject(
            certificate: certificate, chain: PresentedChain(certificates.map(\.der)), name: nil, label: name,
            time: certificate.notBefore, isSelfSignedAccepted: allowsUntrusted || validator == nil)
        if let error = HostCertificateRule.endEntity.violation(subject) { throw error }
    }
}

extension X509Certificate {
    /// The dNSName entries of subjectAltName as they are written, wildcards included.
    package var dnsNames: [String] {
        subjectAlternativeNames.compactMap { if case .dNSName(let name) = $0 { name } else { nil } }
    }
}
