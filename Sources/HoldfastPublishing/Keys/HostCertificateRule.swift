import Foundation
import Holdfast
import HoldfastSigning

/// One condition that a host's own certificate must meet.
struct HostCertificateRule: Sendable {
    /// The subject of a rule.
    struct Subject: Sendable {
        let certificate: X509Certificate
        let chain: PresentedChain
        /// The host, pattern or other text of the intended certificate; nil if it is unknown.
        let name: String?
        /// Its name in errors.
        let label: String
        let time: Date
        /// Whether to accept a self-signed certificate that may also issue certificates, because the host has no other
        /// proof.
        let isSelfSignedAccepted: Bool
        /// The host; nil for a pattern or another text.
        let host: DialedHost?

        init(
            certificate: X509Certificate, chain: PresentedChain, name: String?, label: String? = nil, time: Date,
            isSelfSignedAccepted: Bool
        ) {
            (self.certificate, self.chain, self.name, self.time) = (certificate, chain, name, time)
            self.label = label ?? name ?? "the certificate"
            self.isSelfSignedAccepted = isSelfSignedAccepted
            host = name.flatMap { try? DialedHost($0) }
        }

        /// Whether a certificate is for the name.
        func names(_ certificate: X509Certificate) -> Bool {
            guard let name else { return false }
            if let host { return certificate.isNamed(host) }
            let folded = ASCIIText.lowercased(name)
            let names = certificate.dnsNames
            if names.contains(where: { ASCIIText.lowercased($0) == folded }) { return true }
            // `**.` is not a wildcard of certificates: it stands for the domain and all its subdomains.
            if name.utf8.starts(with: "**.".utf8), let pattern = try? HostPattern(name) {
                return names.contains { Self.isName($0, within: pattern) }
            }
            // Certificate authorities check only subjectAltName. Anyone can get a wildcard into a common name.
            guard !folded.contains(UInt8(ascii: "*")) else { return false }
            return certificate.subject.commonName?.hasSameOctets(as: name) ?? false
        }

        private static func isName(_ name: String, within pattern: HostPattern) -> Bool {
            let isWildcard = name.utf8.starts(with: "*.".utf8)
            let base = isWildcard ? String(decoding: name.utf8.dropFirst(2), as: UTF8.self) : name
            return (try? DialedHost(base)).map(pattern.matches) ?? false
        }

        /// The position, counted from 1, of the first end-entity certificate further up that is for the name, if a name
        /// is known.
        var misplaced: (place: Int, certificate: X509Certificate)? {
            for (index, der) in chain.certificates.enumerated().dropFirst().prefix(15) {
                guard let other = try? X509Certificate(der: der), !other.isAuthority else { continue }
                if name == nil || names(other) { return (index + 1, other) }
            }
            return nil
        }
    }

    /// Why a certificate does not meet the condition; nil if it does.
    let violation: @Sendable (Subject) -> HostCheckError?

    /// All rules in the order of evaluation: the most informative come first.
    static let all = [endEntity, nameIsItsOwn, keyIsAccepted, hasNotExpired]

    /// It is not a CA certificate: no cA in basicConstraints (RFC 5280 4.2.1.9), without which no client accepts it as
    /// an issuer. Common tools mark self-signed server certificates as CA certificates and omit keyUsage. Only the host
    /// has the key of such a certificate, so it counts as the host's own.
    static let endEntity = HostCertificateRule { subject in
        let certificate = subject.certificate
        guard certificate.isAuthority else { return nil }
        // A text that is not a host is requested explicitly by name.
        if let name = subject.name, subject.host == nil, !name.utf8.contains(UInt8(ascii: "*")),
            subject.names(certificate)
        {
            return nil
        }
        let isNamed = subject.name.map { _ in subject.names(certificate) } ?? !certificate.dnsNames.isEmpty
        if certificate.isSelfIssued, !certificate.isIssuerOnly, isNamed,
            subject.isSelfSignedAccepted || !certificate.hasKeyUsage
        {
            return nil
        }
        let found = "the certificate of an authority, \(certificate.subject.description.quoted)"
        guard let other = subject.misplaced else {
            return HostCheckError(
                .notEndEntity, name: subject.label, expected: "the host's own certificate first", found: found,
                remedy:
                    "Give the file with the host's own certificate first, such as fullchain.pem instead of chain.pem."
            )
        }
        return HostCheckError(
            .notEndEntity, name: subject.label, expected: "the host's own certificate first",
            found: "\(found); certificate \(other.place) is \(names(of: other.certificate))")
    }

    /// It is for the host (RFC 9525), or contains the pattern as it is written.
    static let nameIsItsOwn = HostCertificateRule { subject in
        guard let name = subject.name, !subject.names(subject.certificate) else { return nil }
        let found = names(of: subject.certificate)
        guard let other = subject.misplaced else {
            return HostCheckError(
                .nameMismatch, name: name, expected: "a certificate for \(name.quoted)", found: found)
        }
        return HostCheckError(
            .nameMismatch, name: name, expected: "a certificate for \(name.quoted) first",
            found: "\(found); certificate \(other.place) is for it", remedy: HostCheckError.Code.notEndEntity.remedy)
    }

    /// Clients accept its key.
    static let keyIsAccepted = HostCertificateRule { subject in
        do throws(HostCheckError) {
            try HostKeyCheck.check(key: Array(subject.certificate.subjectPublicKeyInfo), named: subject.label)
            return nil
        } catch {
            return error
        }
    }

    /// It is valid up to and including the second of its notAfter (RFC 5280 4.1.2.5).
    static let hasNotExpired = HostCertificateRule { subject in
        let (begin, end) = (subject.certificate.notBefore, subject.certificate.notAfter)
        guard end.wholeSeconds < max(subject.time, begin).wholeSeconds else { return nil }
        return HostCheckError(
            .expired, name: subject.label, expected: "a certificate that has not expired",
            found: end < begin
                ? "one that ends at \(end.formatted(.iso8601)), before it begins"
                : "one that ended at \(end.formatted(.iso8601))")
    }

    private static func names(of certificate: X509Certificate) -> String {
        let names = certificate.subjectAlternativeNames
        guard !names.isEmpty else { return "one without subjectAltName, of \(certificate.subject)" }
        let shown = names.prefix(10).map(\.description).joined(separator: ", ")
        return "one for \(shown)" + (names.count > 10 ? " and \(names.count - 10) more" : "")
    }
}

extension X509Certificate {
    /// Whether it may issue certificates.
    var isAuthority: Bool { (try? basicConstraints)?.isCertificateAuthority == true }
}
