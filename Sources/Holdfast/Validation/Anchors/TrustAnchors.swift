/// The certificates that are trusted from the start (RFC 5280 6.1.1 (d)), indexed by their subjects.
///
/// To read the system's anchors, use ``system(environment:)``; to replace a set while connections are made, use a
/// ``TrustAnchorStore``. A set is cheap to copy.
public struct TrustAnchors: Sendable {
    private final class Index: Sendable {
        let certificates: [X509Certificate]
        let bySubject: [DistinguishedName: [X509Certificate]]
        let byFoldedSubject: [FoldedName: [X509Certificate]]
        let digest: [UInt8]

        init(_ given: [X509Certificate]) {
            certificates = given.distinct
            bySubject = Dictionary(grouping: certificates, by: \.subject)
            var folded: [FoldedName: [X509Certificate]] = [:]
            for certificate in certificates {
                if let name = certificate.subject.folded { folded[name, default: []].append(certificate) }
            }
            byFoldedSubject = folded
            let fingerprints = certificates.map { SHA256Digest.of($0.der) }
            digest = SHA256Digest.of(Array(fingerprints.sorted { $0.lexicographicallyPrecedes($1) }.joined()))
        }
    }

    private let index: Index

    /// Anchors from certificates; each once, in the order given. An empty set is allowed and makes every validation
    /// fail with `noAnchors`.
    public init(_ certificates: [X509Certificate]) { index = Index(certificates) }

    /// Anchors from DER.
    /// - Parameter certificates: DER, one certificate each.
    /// - Throws: ``CertificateError`` for the first one that cannot be read.
    public init(der certificates: [[UInt8]]) throws(CertificateError) {
        self.init(try certificates.map(X509Certificate.init(der:)))
    }

    /// The anchors, each once.
    public var certificates: [X509Certificate] { index.certificates }
    /// Whether there are no anchors.
    public var isEmpty: Bool { index.certificates.isEmpty }
    /// SHA-256 over the sorted SHA-256 of each anchor's DER: equal for equal sets.
    package var digest: [UInt8] { index.digest }

    /// Whether exactly this certificate, byte by byte, is an anchor.
    public func contains(_ certificate: X509Certificate) -> Bool {
        index.bySubject[certificate.subject]?.contains(certificate) ?? false
    }

    /// The anchors that bear this name, compared byte by byte.
    func named(_ name: DistinguishedName) -> [X509Certificate] { index.bySubject[name] ?? [] }

    /// The anchors that bear this name by the comparison of RFC 5280 section 7.1.
    func namedAlike(_ name: FoldedName) -> [X509Certificate] { index.byFoldedSubject[name] ?? [] }
}

extension TrustAnchors: Hashable {
    /// Equality of the sets, regardless of their order.
    public static func == (left: TrustAnchors, right: TrustAnchors) -> Bool { left.digest == right.digest }

    /// Hashes the digest of the set.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
