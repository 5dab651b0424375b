import Holdfast

/// Which of a host's published pins a certificate has. It compares digests, and says nothing about trust.
struct PinMatch: Sendable, Hashable {
    /// In words; empty if it has none.
    let words: [String]

    /// - Parameters:
    ///   - certificate: DER.
    ///   - depth: its place in the chain; 0 for the server's own.
    ///   - pins: what is published for the host; nil for nothing.
    init(_ certificate: [UInt8], atDepth depth: Int, _ pins: ContentHost?) {
        var words: [String] = []
        let fingerprint = Digest(of: certificate)
        if pins?.certificates.contains(where: { $0.fingerprint == fingerprint && $0.depth == depth }) == true {
            words.append("certificate")
        }
        if let certificate = try? X509Certificate(der: certificate) {
            let key = Digest(of: certificate.subjectPublicKeyInfo)
            words += (pins?.keys ?? []).filter { $0.pin == key && ($0.role == .leaf) == (depth == 0) }
                .map { "\($0.state.rawValue) \($0.role.rawValue) key" }
        }
        self.words = words
    }

    /// What any certificate of a chain has.
    static func words(_ chain: CertificateChain, _ pins: ContentHost?) -> [String] {
        var all: [String] = []
        for (depth, certificate) in chain.certificates.enumerated() {
            for words in PinMatch(certificate, atDepth: depth, pins).words where !all.contains(words) {
                all.append(words)
            }
        }
        return all
    }

    /// Words and rank for a page.
    static func shown(_ words: [String]) -> (words: String, rank: PageRank) {
        words.isEmpty ? ("no pin", .bad) : (words.joined(separator: ", "), .usual)
    }
}
