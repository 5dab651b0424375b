import Foundation
import Holdfast

/// What is kept across restarts.
struct StoredLedger: Codable, Hashable, Sendable {
    var counts = DayCounts()
    var subjects = ReportedSubjects()
    var collectors: [String: CollectorState] = [:]
    /// The oldest first.
    private(set) var pending: [PendingReport] = []

    /// The octets of the pending reports.
    var pendingOctets: Int { pending.reduce(0) { $0 + $1.octets } }

    /// Reads what was stored; nil for anything else. Nobody signs it: whoever can write it can report whatever they like
    /// by themselves.
    static func read(_ data: Data) -> StoredLedger? {
        guard data.count <= ReportLimits.mostStoredOctets else { return nil }
        return try? JSONDecoder().decode(StoredLedger.self, from: data)
    }

    /// Adds a report; the oldest ones go if there is no room for all.
    mutating func append(_ report: PendingReport) {
        guard report.octets <= ReportLimits.mostPendingOctets else { return }
        pending.append(report)
        trim()
    }

    /// Puts back a report that was not taken, where it was.
    mutating func putBack(_ report: PendingReport) {
        let index = pending.firstIndex { $0.madeAt > report.madeAt } ?? pending.endIndex
        pending.insert(report, at: index)
        trim()
    }

    mutating func take(_ index: Int) -> PendingReport { pending.remove(at: index) }

    private mutating func trim() {
        var octets = pendingOctets
        while pending.count > ReportLimits.mostPending || octets > ReportLimits.mostPendingOctets {
            octets -= pending.removeFirst().octets
        }
    }

    /// Drops reports that nobody needs anymore.
    /// - Parameter now: a report that was made later was made under another clock.
    /// - Returns: whether there were any.
    mutating func drop(madeBefore time: Int64, correctedTo now: Int64) -> Bool {
        let count = pending.count
        let longest = Int64(ReportLimits.longestWait.inSeconds)
        pending.removeAll { $0.madeAt < time || $0.notBefore > now + longest }
        return pending.count != count
    }

    /// Forgets what is for destinations that are not named anymore, and what could not have been written here.
    mutating func correct(for destinations: Set<String>, at now: Int64) {
        counts.keep(destinations.union([""]))
        subjects.correct(at: now)
        collectors = collectors.filter { destinations.contains($0.key) }
        for destination in collectors.keys { collectors[destination]?.correct(at: now) }
        pending.removeAll { !destinations.contains($0.destination) || !$0.isSound }
        // What was stored may state its size as it likes.
        let kept = pending
        pending = []
        for one in kept.suffix(ReportLimits.mostPending) {
            append(PendingReport(one.content, to: one.destination, madeAt: one.madeAt, notBefore: one.notBefore))
        }
    }
}

extension PendingReport {
    fileprivate var isSound: Bool {
        let times = 0...ReportLimits.lastSecond
        guard times.contains(madeAt), times.contains(notBefore) else { return false }
        return switch content {
        case .failure(let facts):
            // Pins that never counted have an end in the distant past.
            times.contains(facts.time) && facts.end.map { (-times.upperBound...times.upperBound).contains($0) } != false
                && (0...1).contains(facts.fraction)
        case .summary(let facts): facts.isSound
        }
    }
}
