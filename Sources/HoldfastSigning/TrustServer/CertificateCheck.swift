public import Holdfast

public import struct Foundation.Date

/// What must be true of a certificate before a signer vouches for it: it is for the name, it has not expired, and its
/// chain validates. A signer that vouches for whatever a server shows vouches for a machine in the middle.
///
/// ```swift
/// let check = CertificateCheck(validator: PathValidator(anchors: anchors))
/// let certificate = try check.verify(chain, for: "www.example.com", at: clock.now).certificate
/// ```
/// It performs no I/O.
public struct CertificateCheck: Sendable {
    /// A certificate that passed the check.
    public struct Passed: Sendable {
        /// The certificate.
        public let certificate: X509Certificate
        /// Its valid path; nil if its chain does not validate.
        public let path: ValidatedPath?
        /// Why its chain does not validate, if that was allowed; nil if it does.
        public let untrusted: TrustFailure?
    }

    /// Validates the chains.
    public let validator: any ChainValidator
    /// Whether a chain that does not validate is accepted; name and expiry are checked all the same.
    public let allowsUntrusted: Bool

    /// Makes a check.
    /// - Parameters:
    ///   - validator: validates chains against its anchors.
    ///   - allowsUntrusted: whether a chain that does not validate is accepted, for example one that ends in a
    ///     self-signed certificate.
    public init(validator: any ChainValidator, allowsUntrusted: Bool = false) {
        self.validator = validator
        self.allowsUntrusted = allowsUntrusted
    }

    /// Checks a certificate for a name.
    /// - Parameters:
    ///   - chain: the certificate, and the issuers that were sent or given with it.
    ///   - name: a host; or a wildcard, which the certificate must have in its subjectAltName as it is written here,
    ///     apart from the case of letters; or another text, which must be a name in its subjectAltName or its common
    ///     name.
    ///   - time: the current time.
    /// - Throws: ``CertificateCheckError``.
    public func verify(
        _ chain: PresentedChain, for name: String, at time: Date
    ) throws(CertificateCheckError) -> Passed {
        let certificate: X509Certificate
        do throws(CertificateError) {
            certificate = try X509Certificate(der: chain.leaf ?? [])
        } catch {
            throw CertificateCheckError(.unreadable, name: name, expected: error.expected, found: error.found)
        }
        let host = try? DialedHost(name)
        guard Self.isFor(name, host, certificate) else {
            throw CertificateCheckError(
                .nameMismatch, name: name, expected: "a certificate for \(name.quoted)",
                found: Self.names(of: certificate))
        }
        // A certificate is valid up to and including the second of its notAfter (RFC 5280 4.1.2.5).
        guard certificate.notAfter.wholeSeconds >= time.wholeSeconds else {
            throw CertificateCheckError(
                .expired, name: name, expected: "a certificate that has not expired",
                found: "one that ended at \(certificate.notAfter.formatted(.iso8601))")
        }
        let outcome = validator.validate(chain, for: .server(identity: host), at: time) { _ in true }
        if let path = outcome.path { return Passed(certificate: certificate, path: path, untrusted: nil) }
        let failure =
            outcome.failure
            ?? TrustFailure(.unknownIssuer, expected: "a valid path to an anchor", found: "none")
        guard allowsUntrusted else {
            throw CertificateCheckError(
                .untrusted, name: name, expected: "a valid chain, which means \(failure.expected)",
                found: "\(failure.found) (\(failure.code.rawValue))", failure: failure)
        }
        return Passed(certificate: certificate, path: nil, untrusted: failure)
    }

    private static func isFor(_ name: String, _ host: DialedHost?, _ certificate: X509Certificate) -> Bool {
        if let host { return certificate.isNamed(host) }
        let folded = ASCIIText.lowercased(name)
        if certificate.dnsNames.contains(where: { ASCIIText.lowercased($0) == folded }) { return true }
        // Certificate authorities check only subjectAltName. Anybody can get a wildcard into a common name.
        guard !folded.contains(UInt8(ascii: "*")) else { return false }
        return certificate.subject.commonName?.hasSameOctets(as: name) ?? false
    }

    private static func names(of certificate: X509Certificate) -> String {
        let names = certificate.subjectAlternativeNames
        guard !names.isEmpty else { return "one without subjectAltName, of \(certificate.subject)" }
        let shown = names.prefix(10).map(\.description).joined(separator: ", ")
        return "one for \(shown)" + (names.count > 10 ? " and \(names.count - 10) more" : "")
    }
}

extension X509Certificate {
    /// The dNSName entries of subjectAltName as they are written, wildcards included.
    package var dnsNames: [String] {
        subjectAlternativeNames.compactMap { if case .dNSName(let name) = $0 { name } else { nil } }
    }
}

/// Why a signer must not vouch for a certificate.
public struct CertificateCheckError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<CertificateCheckError>

    /// The reason.
    public let code: Code
    /// The name for which the certificate was checked.
    public let name: String
    /// What would have been right, what was found instead, and what to do.
    public let facts: ErrorFacts
    /// Why the chain does not validate; nil if that is not the reason.
    public let failure: TrustFailure?

    init(_ code: Code, name: String, expected: String, found: String, failure: TrustFailure? = nil) {
        self.code = code
        self.name = name
        facts = ErrorFacts(expected: expected, found: found, remedy: code.remedy)
        self.failure = failure
    }
}

extension CertificateCheckError.Code {
    /// The certificate cannot be read.
    public static var unreadable: Self { Self("Give the certificate in PEM or DER.") }
    /// The certificate is for other names.
    public static var nameMismatch: Self {
        Self("Check that it is the right certificate, and that the name is written as in it.")
    }
    /// The certificate has expired.
    public static var expired: Self { Self("Sign for the certificate that replaces it.") }
    /// The chain does not validate.
    public static var untrusted: Self {
        Self(
            "Put its issuers after it in the file and give its root as an anchor; sign for it as untrusted only if you "
                + "know from another source whose it is.")
    }
}
