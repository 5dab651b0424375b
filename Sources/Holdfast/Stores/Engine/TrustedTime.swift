package import struct Foundation.Date
package import struct Foundation.TimeInterval

/// The time that decisions use: the latest of the device's clock, the build date and the newest verified issue time,
/// which is limited to a day past the others.
///
/// A device's clock may be slow or set back; a signed time is then better. But a signer that writes milliseconds
/// instead of seconds must not shift every client's time permanently: the effect ends within a day.
package struct TrustedTime: Sendable, Hashable {
    /// The maximum by which a document moves the time past clock and build date, in seconds.
    package static let longestLead: TimeInterval = 24 * 3_600

    /// The time at which the application was built, if that is known.
    let buildDate: Date?
    /// The newest issue time of a verified document, limited as above; an older document would be a rollback.
    let newestIssue: Date?

    package init(buildDate: Date? = nil, newestIssue: Date? = nil) {
        self.buildDate = buildDate
        self.newestIssue = newestIssue
    }

    /// The time for pins, documents and certificates.
    package func time(clock: Date) -> Date { time(asked: clock, clock: clock) }

    /// The time for pins, documents and certificates if a caller specifies a time, which may be earlier.
    package func time(asked: Date, clock: Date) -> Date {
        let asked = max(asked, buildDate ?? asked)
        guard let newestIssue else { return asked }
        return max(asked, counted(newestIssue, clock: max(asked, clock)))
    }

    /// A new document's issue time, limited to the maximum lead.
    func counted(_ issued: Date, clock: Date) -> Date {
        min(issued, own(clock: clock).addingTimeInterval(Self.longestLead))
    }

    /// Returns the same with a verified document's issue time instead of the newest one, which may be later; the
    /// document's format determines whether that is allowed.
    func remembering(_ issued: Date, clock: Date) -> TrustedTime {
        TrustedTime(buildDate: buildDate, newestIssue: counted(issued, clock: clock))
    }

    /// The time without documents: clock and build date.
    private func own(clock: Date) -> Date { max(clock, buildDate ?? clock) }
}
