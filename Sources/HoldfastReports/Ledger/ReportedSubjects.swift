import Holdfast

/// The distinguishing properties of a report: not the chain, the address or the time.
struct ReportSubject: Codable, Hashable, Sendable {
    let host: String
    let code: String
    let documentVersion: String
}

/// The times of the last reports of failures: each failure is reported at most once per day.
struct ReportedSubjects: Codable, Hashable, Sendable {
    private struct Entry: Codable, Hashable, Sendable {
        let subject: ReportSubject
        var time: Int64
    }

    /// The entries, oldest first.
    private var entries: [Entry] = []

    private static let day: Int64 = 86_400

    var count: Int { entries.count }

    /// Whether a failure was not reported within the last day; marks it as reported.
    ///
    /// If the maximum number of other failures was reported within a day, it is treated as reported.
    mutating func isNew(_ subject: ReportSubject, at now: Int64) -> Bool {
        forget(at: now)
        guard !entries.contains(where: { $0.subject == subject }), entries.count < ReportLimits.mostSubjects else {
            return false
        }
        entries.append(Entry(subject: subject, time: now))
        return true
    }

    private mutating func forget(at now: Int64) {
        for index in entries.indices where entries[index].time > now {
            // The clock was set back: limit the wait to one day from now.
            entries[index].time = now
        }
        entries.removeAll { now - $0.time >= Self.day }
    }

    /// Removes entries that this type could not have written.
    mutating func correct(at now: Int64) {
        entries.removeAll { !$0.subject.isSound || $0.time < 0 }
        entries = Array(entries.prefix(ReportLimits.mostSubjects))
        forget(at: now)
    }
}

extension ReportSubject {
    fileprivate var isSound: Bool {
        [host, code, documentVersion].allSatisfy { $0.isASCII(atMost: ReportLimits.longestText) }
    }
}
