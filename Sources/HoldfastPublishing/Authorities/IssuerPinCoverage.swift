public import Foundation
public import Holdfast

/// Whether pins of issuers let in whatever an authority may issue next.
///
/// An authority issues from several intermediates, replaces them without notice, has its keys certified by other
/// authorities as well, and now and then puts one certificate more into the chain. This judges every chain that may follow
/// from its certificates, for each document that clients may hold, with the clients' own code: the next certificate is
/// taken to have a new key, so that only a pin of an issuer lets it in.
///
/// ```swift
/// let coverage = try IssuerPinCoverage(judging: inputs, issuedBy: AuthorityHierarchy(certificates))
/// for finding in coverage.findings where !finding.gaps.isEmpty { report(finding, coverage.missing) }
/// ```
/// It performs no I/O. Revocation lists are not asked.
public struct IssuerPinCoverage: Sendable, Hashable {
    /// A chain with which clients would be locked out.
    public struct Gap: Sendable, Hashable {
        /// The certificates above the server's own that are known, lowest first.
        public let issuers: [X509Certificate]
        /// How many certificates between the server's own and these nobody has announced.
        public let unknownAuthorities: Int
        /// The first instant at which clients refuse it.
        public let instant: Date
        /// Why, in words.
        public let words: String
        /// The known certificates of its valid paths, lowest first: a pin of one of them lets clients in.
        let paths: [[X509Certificate]]
    }

    /// How clients of one kind, with one document, on one platform, fare with what the authority may issue for a host.
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
        /// Whether the certificates of the authority are those from which the host's was issued; false if they are of
        /// another one, and nothing of them was judged. What was shown is then all that is known.
        public let isOfAuthority: Bool
        /// How many of the authority's chains were judged.
        public let chains: Int
        /// The chains of the authority that clients refuse.
        public let gaps: [Gap]
        /// Chains that clients refuse with an intermediate, or two, that nobody has announced.
        public let unannounced: [Gap]
    }

    /// An authority of which a platform trusts no certificate, so that no pin helps.
    public struct Untrusted: Sendable, Hashable {
        /// The name of the platform.
        public let platform: String
        /// A certificate of the authority.
        public let issuer: X509Certificate
    }

    /// One finding for each host, document, client and platform whose pins of issuers let in what the host shows. Pins of
    /// a server's own key or certificate do not depend on the authority, and have no finding.
    public let findings: [Finding]
    /// Authorities that issue to servers and that a platform does not trust.
    public let untrusted: [Untrusted]
    /// Certificates whose keys, pinned as issuers, close all gaps: the authority's own first, and as few as were found.
    public let missing: [X509Certificate]
    /// Certificates whose keys, pinned as issuers, also let in what comes from an intermediate that nobody has announced.
    public let missingToLast: [X509Certificate]

    /// Whether clients get in with every chain of the authority.
    public var isComplete: Bool {
        findings.allSatisfy { $0.gaps.isEmpty && $0.isOfAuthority } && untrusted.isEmpty
    }
    /// Whether they would with any other intermediate below its roots as well.
    public var isLasting: Bool { isComplete && findings.allSatisfy(\.unannounced.isEmpty) }

    /// Judges.
    /// - Parameters:
    ///   - inputs: the documents that clients may hold, the platforms and the span. Of the hosts those certificates count
    ///     that are shown now; a host that shows none is taken to pin the issuers of the hierarchy.
    ///   - hierarchy: the certificates of the authority; nil if only what the hosts show is known, so that nothing but
    ///     unannounced intermediates is judged.
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

    /// A greedy choice: the authority's own keys before those of others, which would let in what these issue; of each
    /// what closes most gaps, and of equals what stands highest, because it stays longest.
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

    /// Whether a path has the key of a certificate. Which pins match is for the clients' policy to say.
    private static func isClosed(_ paths: [[X509Certificate]], by certificate: X509Certificate) -> Bool {
        paths.contains { $0.contains { $0.subjectPublicKeyInfo == certificate.subjectPublicKeyInfo } }
    }
}
