package import Foundation
package import Holdfast

/// Finds certificates that end too soon among those that a decision depends on.
package struct ExpiryWatch: Sendable {
    /// A certificate that ends too soon. Its fields are those of the JSON object.
    package struct Expiring: Sendable, Encodable {
        /// The position in the chain as presented; the leaf has 0. Absent for an anchor that was not sent.
        package let position: Int?
        package let subject: String
        package let notAfter: String
        package let daysLeft: Int
        package let certificatePin: String
        package let inValidPath: Bool
        /// Whether it matches one of the policy's pins.
        package let hasConfiguredPin: Bool
    }

    /// A certificate that ends within this time ends too soon.
    package let span: Duration

    /// Whether to ignore all certificates if the server's own key is pinned: a renewal with that key replaces all of
    /// them, and clients of the pins can connect as before.
    private let skipsPinnedKeys: Bool

    package init(span: Duration, skippingPinnedKeys: Bool = false) {
        self.span = span
        skipsPinnedKeys = skippingPinnedKeys
    }

    /// Whether an end is too soon.
    package func isTooSoon(_ end: Date, from now: Date) -> Bool { end < now.addingTimeInterval(span.inSeconds) }

    /// Searches the valid path with its anchor, and the presented certificates that have a configured pin.
    package func expiring(in decision: TrustDecision) -> [Expiring] {
        let presented = decision.chain?.certificates ?? []
        if skipsPinnedKeys, let leaf = presented.first.flatMap({ try? X509Certificate(der: $0) }),
            decision.configuredPins.contains(leaf.publicKeyPin)
        {
            return []
        }
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

extension ExpiryWatch.Expiring {
    /// One line with the certificate and the date of its end.
    package var text: String {
        let place = position.map { "certificate \($0)" } ?? "the anchor"
        let pin = hasConfiguredPin ? ", which has a configured pin," : ""
        return "\(place) (\(subject))\(pin) \(notAfter), \(DaysLeft.text(daysLeft))"
    }
}
