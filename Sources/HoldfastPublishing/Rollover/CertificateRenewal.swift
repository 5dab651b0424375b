public import Foundation
package import Holdfast

/// When a certificate is renewed, and how long its successor is known before it ends.
///
/// ACME clients renew at two thirds of a certificate's life. Only then is there a next certificate whose pin can be
/// published, and every client must have that before the old one ends. A key needs none of this: its pin is published
/// long before.
public struct CertificateRenewal: Sendable, Hashable {
    /// The first instant at which the certificate is valid.
    public let start: Date
    /// The first instant at which it is no longer valid.
    public let end: Date

    /// Describes a certificate that is valid in a time.
    public init(from start: Date, until end: Date) {
        self.start = start
        self.end = end
    }

    package init(of certificate: X509Certificate) {
        self.init(from: certificate.notBefore, until: certificate.validityEnd)
    }

    /// For how many seconds it is valid.
    package var life: TimeInterval { max(0, end.timeIntervalSince(start)) }
    /// When it is renewed: at two thirds of its life.
    public var renewal: Date { start.addingTimeInterval(life * 2 / 3) }
    /// How many seconds are left then.
    package var remaining: TimeInterval { life / 3 }

    /// Makes sure that a document with its certificate pin can follow its renewals.
    /// - Parameters:
    ///   - name: what the certificate is for; for words only.
    ///   - staleness: for how long clients may use an older document.
    /// - Throws: ``PublishingError`` `shortLife`, with the arithmetic.
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

    /// Days, to a tenth; hours below two days.
    private static func days(_ seconds: TimeInterval) -> String {
        let (unit, name) = seconds < 2 * 86_400 ? (3_600.0, "hour") : (86_400.0, "day")
        let tenths = (min(seconds, 1e12) / unit * 10).rounded()
        let text = tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))" : "\(tenths / 10)"
        return "\(text) \(name)\(text == "1" ? "" : "s")"
    }
}
