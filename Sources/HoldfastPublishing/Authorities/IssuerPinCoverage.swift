public import Foundation
public import Holdfast

/// Whether pins of issuers accept every certificate that an authority may issue next.
///
/// An authority issues from several intermediates, replaces them without notice, has its keys certified by other
/// authorities as well, and sometimes adds one more certificate to the chain. This evaluates, with the clients' own
/// code, every chain that its certificates allow, for each document that clients may hold. It assumes that the next
/// certificate has a new key, so that only a pin of an issuer matches.
///
/// ```swift
/// let coverage = try IssuerPinCoverage(judging: inputs, issuedBy: AuthorityHierarchy(certificates))
/// for finding in coverage.findings where !finding.gaps.isEmpty { report(finding, coverage.missing) }
/// ```
/// It performs no I/O and does not check revocation.
public struct IssuerPinCoverage: Sendable, Hashable {
    /// A chain that would lock clients out.
    public struct Gap: Sendable, Hashable {
        /// The known certificates above the server's own, lowest first.
        public let issuers: [X509Certificate]
        /// The number of unannounced certificates between the server's own and these.
        public let unknownAuthorities: Int
        /// The first instant at which clients refuse the chain.
        public let instant: Date
        /// The reason, as text.
        public let words: String
        /// The known certificates of its valid paths, lowest first. If one of them is pinned, clients can connect.
        let paths: [[X509Certificate]]
    }

    /// The result for one kind of client, with one document, on one platform, of the certificates that the authority
    /// may issue for a host.
    public struct Finding: Sendable, Hashable {
        /// The host, as it is dialed.
        public let host: String
        /// The index of the host among the inputs.
        public let hostIndex: Int
        /// The index of the document among the inputs.
        public let document: Int
        /// The kind of client.
        public let client: PublicationOutlook.Client
        /// The name of the platform.
        public let platform: String
        /// Whether the authority's certificates include the issuer of the host's certificate. If not, its chains were
        /// not evaluated, and only the presented chain is known.
        public let isOfAuthority: Bool
        /// The number of the authority's chains that were evaluated.
        public let chains: Int
        /// The chains of the authority that clients refuse.
        public let gaps: [Gap]
        /// Refused chains with one or two unannounced intermediates.
        public let unannounced: [Gap]
    }

    /// An authority of which a platform trusts no certificate, so that no pin can help.
    public struct Untrusted: Sendable, Hashable {
        /// The name of the platform.
        public let platform: String
        /// A certificate of the authority.
        public let issuer: X509Certificate
    }

    /// One finding for each host, document, client and platform whose pins of issuers accept the chain that the host
    /// presents. Pins of a server's own key or certificate do not depend on the authority, so they have no finding.
    public let findings: [Finding]
    /// Authorities that issue server certificates and that a platform does not trust.
    public let untrusted: [Untrusted]
    /// The certificates whose keys, pinned as issuers, close all gaps. The authority's own come first, and the set is
    /// small.
    public let missing: [X509Certificate]
    /// The certificates whose keys, pinned as issuers, also accept certificates from unannounced intermediates.
    public let missingToLast: [X509Certificate]

    /// Whether clients can connect with every chain of the authority.
    public var isComplete: Bool {
        findings.allSatisfy { $0.gaps.isEmpty && $0.isOfAuthority } && untrusted.isEmpty
    }
    /// Whether clients could also connect with any other intermediate below its roots.
    public var isLasting: Bool { isComplete && findings.allSatisfy(\.unannounced.isEmpty) }

    /// Evaluates the coverage.
    /// - Parameters:
    ///   - inputs: the documents that clients may hold, the platforms and the span. For the hosts, only the
    ///     certificates that they present now are used. A host that presents none is assumed to pin the issuers of the
    ///     hierarchy.
    ///   - hierarchy: the certificates of the authority; nil if only the chains that the hosts present are known. Then
    ///     only unannounced intermediates are evaluated.
    /// - Throws: ``PublishingError`` `invalidInput`.
    public init(
        judging inputs: PublicationOutlook.Inputs, issuedBy hierarchy: AuthorityHierarchy?
    ) throws(PublishingError) {
        var judge = try IssuerPinJudge(inputs, hierarchy)
        for index in inputs.hosts.indices { try judge.judge(index) }
        findings = judge.findings
        untrusted = judge.untrusted
        let known = Set(hierarchy?.certificates ?? [])
        let gaps = judge.findings.flatMap(\.gaps)
        missing = Self.fewest(closing: gaps, preferring: known)
        missingToLast = Self.fewest(closing: gaps + judge.findings.flatMap(\.unannounced), preferring: known)
    }

    /// A greedy selection. It prefers the authority's own keys, because keys of others would accept the certificates
    /// that these issue. Then it prefers the key that closes most gaps, and among equals the highest, because it stays
    /// longest.
    private static func fewest(
        closing gaps: [Gap], preferring known: Set<X509Certificate>
    ) -> [X509Certificate] {
        var seen: Set<[[X509Certificate]]> = []
        var open = gaps.map(\.paths).filter { $0.contains { !$0.isEmpty } && seen.insert($0).inserted }
        var chosen: [X509Certificate] = []
        while !open.isEmpty {
            var best: (certificate: X509Certificate, rank: (Int, Int, Int))?
            for path in open.joined() {
                for (height, certificate) in path.enumerated() {
                    let closes = open.count { Self.isClosed($0, by: certificate) }
                    let rank = (known.contains(certificate) ? 1 : 0, closes, height)
                    if best.map({ rank > $0.rank }) ?? true { best = (certificate, rank) }
                }
            }
            guard let best else { break }
            chosen.append(best.certificate)
            open.removeAll { Self.isClosed($0, by: best.certificate) }
        }
        return chosen
    }

    /// Whether a path contains the key of a certificate. Which pins match is up to the clients' policy.
    private static func isClosed(_ paths: [[X509Certificate]], by certificate: X509Certificate) -> Bool {
        paths.contains { $0.contains { $0.subjectPublicKeyInfo == certificate.subjectPublicKeyInfo } }
    }
}
