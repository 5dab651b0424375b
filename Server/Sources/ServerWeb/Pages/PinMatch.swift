import Holdfast
import ServerFoundation
import ServerModel

/// The published pins of a host that match a certificate. It compares digests and makes no statement about trust.
struct PinMatch: Sendable, Hashable {
    /// The descriptions of the pins; empty if none matches.
    let words: [String]

    /// - Parameters:
    ///   - certificate: DER.
    ///   - depth: its position in the chain; 0 for the leaf.
    ///   - pins: the published pins of the host; nil if there are none.
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

    /// The descriptions of the pins that match any certificate of a chain.
    static func words(_ chain: CertificateChain, _ pins: ContentHost?) -> [String] {
        var all: [String] = []
        for (depth, certificate) in chain.certificates.enumerated() {
            for words in PinMatch(certificate, atDepth: depth, pins).words where !all.contains(words) {
                all.append(words)
            }
        }
        return all
    }

    /// The text and rank for a page.
    static func shown(_ words: [String]) -> (words: String, rank: PageRank) {
        words.isEmpty ? ("no pin", .bad) : (words.joined(separator: ", "), .usual)
    }
}
