public import Holdfast

/// The certificates of an authority, current and announced: its intermediates and roots, and those that other
/// authorities signed for the same keys.
///
/// Include all certificates that the authority publishes about itself, in use or not: an authority may issue from an
/// announced certificate at any time.
public struct AuthorityHierarchy: Sendable, Hashable {
    /// The certificates, each once, in the order given.
    public let certificates: [X509Certificate]
    /// Every path up from an authority: the certificates that a server may present above its own, lowest first.
    private let ways: [Way]
    /// The authorities that certify none of the others: those that issue server certificates.
    private let issuing: Set<Int>
    /// The index of the authority of each certificate: certificates with the same name and key belong to one authority.
    private let authorities: [Int]

    /// Certificates that a server may present, lowest first.
    struct Way: Sendable, Hashable {
        let certificates: [Int]
    }

    /// The maximum number of certificates, several times what the largest authority publishes; the maximum number of
    /// paths up; and the maximum length of a path.
    static let (maximumCertificates, maximumWays, maximumLength) = (256, 4_096, 8)

    /// Derives the relations between the certificates. They do not become trusted.
    /// - Throws: ``PublishingError`` `invalidInput` for a certificate that is not a CA certificate, or too many.
    public init(_ certificates: [X509Certificate]) throws(PublishingError) {
        var seen: Set<X509Certificate> = []
        let certificates = certificates.filter { seen.insert($0).inserted }
        guard certificates.count <= Self.maximumCertificates else {
            throw PublishingError(
                .invalidInput, of: "the authority", expected: "at most \(Self.maximumCertificates) certificates",
                found: "\(certificates.count)")
        }
        for certificate in certificates {
            guard (try? certificate.basicConstraints)?.isCertificateAuthority == true else {
                throw PublishingError(
                    .invalidInput, of: certificate.subject.description, expected: "the certificate of an authority",
                    found: "one that may not issue any")
            }
        }
        self.certificates = certificates
        let authorities = Self.authorities(of: certificates)
        // The certificates of the authority that signed each certificate, if it is another authority.
        let issuers = certificates.indices.map { index in
            certificates.indices.filter { other in
                authorities[other] != authorities[index]
                    && certificates[other].subject == certificates[index].issuer
                    && certificates[index].isSigned(by: certificates[other])
            }
        }
        self.authorities = authorities
        let certifying = Set(issuers.joined().map { authorities[$0] })
        issuing = Set(authorities).subtracting(certifying)
        var ways: [Way] = []
        for index in certificates.indices {
            try Self.climb([index], certificates, issuers, authorities, &ways)
        }
        self.ways = ways
    }

    private static func authorities(of certificates: [X509Certificate]) -> [Int] {
        certificates.indices.map { index in
            certificates.indices.first { other in
                certificates[other].subject == certificates[index].subject
                    && certificates[other].subjectPublicKeyInfo == certificates[index].subjectPublicKeyInfo
            } ?? index
        }
    }

    /// Every prefix of a path is a path as well, because a client may trust a certificate above it. A root at the end
    /// is left out: clients have it, or do not trust it.
    private static func climb(
        _ way: [Int], _ certificates: [X509Certificate], _ issuers: [[Int]], _ authorities: [Int],
        _ ways: inout [Way]
    ) throws(PublishingError) {
        guard ways.count < maximumWays else {
            throw PublishingError(
                .invalidInput, of: "the authority", expected: "at most \(maximumWays) chains", found: "more")
        }
        guard let last = way.last, way.count == 1 || !certificates[last].isSelfIssued else { return }
        ways.append(Way(certificates: way))
        guard way.count < maximumLength else { return }
        for issuer in issuers[last] where !way.contains(where: { authorities[$0] == authorities[issuer] }) {
            try climb(way + [issuer], certificates, issuers, authorities, &ways)
        }
    }

    // MARK: Evaluated paths

    /// The paths up from authorities that issue server certificates.
    var waysOfServers: [[X509Certificate]] {
        ways.filter { way in way.certificates.first.map { issuing.contains(authorities[$0]) } ?? false }.map(all)
    }

    /// The paths up from every authority, below which unknown intermediates may exist.
    var waysOfAuthorities: [[X509Certificate]] { ways.map(all) }

    private func all(_ way: Way) -> [X509Certificate] { way.certificates.map { certificates[$0] } }

    /// Whether one of the certificates is from an authority of this hierarchy, or was signed by one.
    func hasIssued(anyOf others: [X509Certificate]) -> Bool {
        others.contains { other in
            certificates.contains { certificate in
                certificate.subject == other.subject
                    && certificate.subjectPublicKeyInfo == other.subjectPublicKeyInfo
                    || certificate.subject == other.issuer && other.isSigned(by: certificate)
            }
        }
    }
}
