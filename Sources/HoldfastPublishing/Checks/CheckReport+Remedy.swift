import Foundation
import Holdfast

extension CheckReport.Failure {
    /// A failure with the remedy for an earlier mistake: a pin of the wrong bytes, or a chain that does not begin with
    /// the server's own certificate.
    init(_ failure: TrustFailure, of decision: TrustDecision) {
        let certificates = (decision.chain?.certificates ?? []).prefix(16).compactMap { try? X509Certificate(der: $0) }
        guard let remedy = Self.remedy(failure, decision, certificates) else {
            self.init(failure)
            return
        }
        let text = failure.description
        let usual = "remedy: \(failure.remedy)"
        let begin = text.hasSuffix(usual) ? String(text.dropLast(usual.count)) : "\(text)\n  "
        self.init(failure, remedy: remedy, text: "\(begin)remedy: \(remedy)")
    }

    private static func remedy(
        _ failure: TrustFailure, _ decision: TrustDecision, _ certificates: [X509Certificate]
    ) -> String? {
        switch failure.code {
        case .pinMismatch:
            let misses = PinNearMiss.all(of: decision.configuredPins, in: certificates)
            guard !misses.isEmpty else { return nil }
            return misses.map(\.text).joined(separator: "; ") + "."
        case .hostNameMismatch, .noSubjectAlternativeName:
            guard let host = decision.host, let first = certificates.first else { return nil }
            if let place = certificates.dropFirst().firstIndex(where: { !$0.isAuthority && $0.isNamed(host) }) {
                return
                    "Put the certificate of \(host.name) first, and its issuers after it: it is number \(place + 1) of the "
                    + "chain, and the first is \(first.isAuthority ? "an authority's" : "another one")."
            }
            guard first.isAuthority, !first.isNamed(host) else { return nil }
            return "Put the host's own certificate first, and its issuers after it: the first one is an authority's, "
                + "such as in chain.pem instead of fullchain.pem."
        default: return nil
        }
    }
}
