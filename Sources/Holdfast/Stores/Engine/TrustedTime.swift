package import struct Foundation.Date
package import struct Foundation.TimeInterval

/// The time that decisions use: the latest of the device's clock, the build date and the newest verified issue time,
/// which counts at most a day past the others.
///
/// A device's clock may be slow or set back; a signed time is then better. But a signer that writes milliseconds
/// instead of seconds must not shift every client's time permanently: the effect ends within a day.
package struct TrustedTime: Sendable, Hashable {
    /// The most by which a document moves the time past clock and build date, in seconds.
    package static let longestLead: TimeInterval = 24 * 3_600

    /// When the application was built, if that is known.
    let buildDate: Date?
    /// The newest issue time of a verified document, as far as it counts; an older document would be a rollback.
    let newestIssue: Date?

    package init(buildDate: Date? = nil, newestIssue: Date? = nil) {
        self.buildDate = buildDate
        self.newestIssue = newestIssue
    }

    /// The time for pins, documents and certificates.
    package func time(clock: Date) -> Date { time(asked: clock, clock: clock) }

    /// The time for pins, documents and certificates if a caller asks about a particular time, which may be earlier.
    package func time(asked: Date, clock: Date) -> Date {
        let asked = max(asked, buildDate ?? asked)
        guard let newestIssue else { return asked }
        return max(asked, counted(newestIssue, clock: max(asked, clock)))
    }

    /// The part of a new document's issue time that counts.
    func counted(_ issued: Date, clock: Date) -> Date {
        min(issued, own(clock: clock).addingTimeInterval(Self.longestLead))
    }

    /// The same, with a verified document's issue time instead of the newest one, which may be later; the document's
    /// format decides whether that is allowed.
    func remembering(_ issued: Date, clock: Date) -> TrustedTime {
        TrustedTime(buildDate: buildDate, newestIssue: counted(issued, clock: clock))
    }

    /// The time without documents: clock and build date.
    private func own(clock: Date) -> Date { max(clock, buildDate ?? clock) }
}
