public import Foundation
package import Holdfast

/// When a certificate is renewed, and how much of its validity is then left.
///
/// ACME clients renew at two thirds of a certificate's lifetime. Only then does the next certificate exist whose pin
/// can be published, and every client must have that pin before the old certificate ends. A key does not have this
/// problem: its pin is published long before.
public struct CertificateRenewal: Sendable, Hashable {
    /// The first instant at which the certificate is valid.
    public let start: Date
    /// The first instant at which it is no longer valid.
    public let end: Date

    /// Describes a certificate with its validity.
    public init(from start: Date, until end: Date) {
        self.start = start
        self.end = end
    }

    package init(of certificate: X509Certificate) {
        self.init(from: certificate.notBefore, until: certificate.validityEnd)
    }

    /// Its lifetime in seconds.
    package var life: TimeInterval { max(0, end.timeIntervalSince(start)) }
    /// When it is renewed: at two thirds of its lifetime.
    public var renewal: Date { start.addingTimeInterval(life * 2 / 3) }
    /// The number of seconds that are then left.
    package var remaining: TimeInterval { life / 3 }

    /// Checks that a document with its certificate pin can keep up with its renewals.
    /// - Parameters:
    ///   - name: the subject of the certificate; for messages only.
    ///   - staleness: maximum time for which clients may use an older document.
    /// - Throws: ``PublishingError`` `shortLife`, with the calculation.
    public func check(_ name: String, staleness: Duration) throws(PublishingError) {
        guard !PublicationTiming(staleness: staleness).fitsRenewal(leaving: .seconds(remaining)) else { return }
        let staleness = staleness.inSeconds
        throw PublishingError(
            .shortLife, of: name,
            expected:
                "at least \(Self.days(staleness)) between a renewal and the old certificate's end, because clients "
                + "may use an older document for so long",
            found: "a certificate that lives \(Self.days(life)): renewed after two thirds of that, "
                + "\(Self.days(life * 2 / 3)), it leaves \(Self.days(remaining))",
            remedy: "Pin its key instead, in a pin file; or get certificates that live \(Self.days(staleness * 3)); or "
                + "let clients ask more often.")
    }

    /// The time in days, to a tenth; in hours below two days.
    private static func days(_ seconds: TimeInterval) -> String {
        let (unit, name) = seconds < 2 * 86_400 ? (3_600.0, "hour") : (86_400.0, "day")
        let tenths = (min(seconds, 1e12) / unit * 10).rounded()
        let text = tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))" : "\(tenths / 10)"
        return "\(text) \(name)\(text == "1" ? "" : "s")"
    }
}
