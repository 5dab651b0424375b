import Foundation
import Holdfast

/// Finds certificates that end too soon among those on which a decision is based.
struct ExpiryWatch: Sendable {
    /// A certificate that ends too soon. Its fields are those of the JSON object.
    struct Expiring: Encodable {
        /// The position in the chain as presented; the leaf has 0. Absent for an anchor that was not sent.
        let position: Int?
        let subject: String
        let notAfter: String
        let daysLeft: Int
        let certificatePin: String
        let inValidPath: Bool
        /// Whether it has one of the pins that the policy looks for.
        let hasConfiguredPin: Bool
    }

    /// What ends within this time ends too soon.
    let span: TimeSpan

    /// Whether an end is too soon.
    func isTooSoon(_ end: Date, from now: Date) -> Bool { end < now.addingTimeInterval(Double(span.seconds)) }

    /// Searches the valid path with its anchor, and the presented certificates that have a configured pin.
    func expiring(in decision: TrustDecision) -> [Expiring] {
        let presented = decision.chain?.certificates ?? []
        let path = (decision.path ?? decision.failure?.paths.first)?.certificates ?? []
        let others = presented.compactMap { try? X509Certificate(der: $0) }
            .filter { certificate in !path.contains(certificate) && hasPin(certificate, of: decision) }
        return (path + others).filter { isTooSoon($0.notAfter, from: decision.time) }.map { certificate in
            Expiring(
                position: presented.firstIndex(of: certificate.der), subject: certificate.subject.description,
                notAfter: certificate.notAfter.formatted(.iso8601),
                daysLeft: DaysLeft.days(until: certificate.notAfter, from: decision.time),
                certificatePin: certificate.certificatePin.description, inValidPath: path.contains(certificate),
                hasConfiguredPin: hasPin(certificate, of: decision))
        }
    }

    private func hasPin(_ certificate: X509Certificate, of decision: TrustDecision) -> Bool {
        PinSet(known: decision.configuredPins.map { PinRule($0) }).names(certificate)
    }
}
