import Holdfast

/// What makes a report distinct: not the chain, the address or the time.
struct ReportSubject: Codable, Hashable, Sendable {
    let host: String
    let code: String
    let documentVersion: String
}

/// When failures were last reported: each at most once a day.
struct ReportedSubjects: Codable, Hashable, Sendable {
    private struct Entry: Codable, Hashable, Sendable {
        let subject: ReportSubject
        var time: Int64
    }

    /// The oldest first.
    private var entries: [Entry] = []

    private static let day: Int64 = 86_400

    var count: Int { entries.count }

    /// Whether a failure was not reported within the last day; from now on it was.
    ///
    /// If so many others were reported within a day that there is no room, it counts as reported.
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
            // The clock was set back: a day is counted from now, and no longer.
            entries[index].time = now
        }
        entries.removeAll { now - $0.time >= Self.day }
    }

    /// Forgets what could not have been written here.
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
