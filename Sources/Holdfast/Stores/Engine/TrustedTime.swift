package import struct Foundation.Date
package import struct Foundation.TimeInterval

/// What the time is, from what is known about it: the latest of the device's clock, the date of the build and the newest
/// issue time that was verified, the last never more than a day past the others.
///
/// A device's clock may be behind, or be set back; what a signer stated then says more. But one signer that writes
/// milliseconds for seconds must not move every client's time for good: what it moves heals within a day.
package struct TrustedTime: Sendable, Hashable {
    /// No document moves the time further past clock and build date, in seconds.
    package static let longestLead: TimeInterval = 24 * 3_600

    /// When the application was built, where that is known.
    let buildDate: Date?
    /// The newest issue time that a verified document stated, as far as it counts: what is older is a rollback.
    let newestIssue: Date?

    init(buildDate: Date? = nil, newestIssue: Date? = nil) {
        self.buildDate = buildDate
        self.newestIssue = newestIssue
    }

    /// The time for pins, documents and certificates.
    package func time(clock: Date) -> Date { time(asked: clock, clock: clock) }

    /// The time for pins, documents and certificates where a caller asks about a time of his own, which may be earlier.
    package func time(asked: Date, clock: Date) -> Date {
        let asked = max(asked, buildDate ?? asked)
        guard let newestIssue else { return asked }
        return max(asked, counted(newestIssue, clock: max(asked, clock)))
    }

    /// What of an issue time counts, when a document with it comes.
    func counted(_ issued: Date, clock: Date) -> Date {
        min(issued, own(clock: clock).addingTimeInterval(Self.longestLead))
    }

    /// The same with a verified document's issue time in the place of the newest, which may be later: whether that is
    /// allowed says the document's format.
    func remembering(_ issued: Date, clock: Date) -> TrustedTime {
        TrustedTime(buildDate: buildDate, newestIssue: counted(issued, clock: clock))
    }

    /// What the device and its application know by themselves.
    private func own(clock: Date) -> Date { max(clock, buildDate ?? clock) }
}
