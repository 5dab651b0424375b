import Foundation
import Holdfast

/// The data that is kept across restarts.
struct StoredLedger: Codable, Hashable, Sendable {
    var counts = DayCounts()
    var subjects = ReportedSubjects()
    var collectors: [String: CollectorState] = [:]
    /// The pending reports, oldest first.
    private(set) var pending: [PendingReport] = []

    /// The size of the pending reports in bytes.
    var pendingOctets: Int { pending.reduce(0) { $0 + $1.octets } }

    /// Reads stored data; nil if it is invalid. It is not signed: anyone who can write it can also send any report
    /// directly.
    static func read(_ data: Data) -> StoredLedger? {
        guard data.count <= ReportLimits.mostStoredOctets else { return nil }
        return try? JSONDecoder().decode(StoredLedger.self, from: data)
    }

    /// Adds a report; removes the oldest ones if the limits are exceeded.
    mutating func append(_ report: PendingReport) {
        guard report.octets <= ReportLimits.mostPendingOctets else { return }
        pending.append(report)
        trim()
    }

    /// Returns a report that was not accepted to its former position.
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

    /// Removes outdated reports.
    /// - Parameter now: a report with a later time was made under another clock.
    /// - Returns: whether any were removed.
    mutating func drop(madeBefore time: Int64, correctedTo now: Int64) -> Bool {
        let count = pending.count
        let longest = Int64(ReportLimits.longestWait.inSeconds)
        pending.removeAll { $0.madeAt < time || $0.notBefore > now + longest }
        return pending.count != count
    }

    /// Removes data for destinations that are no longer named, and data that this type could not have written.
    mutating func correct(for destinations: Set<String>, at now: Int64) {
        counts.keep(destinations.union([""]))
        subjects.correct(at: now)
        collectors = collectors.filter { destinations.contains($0.key) }
        for destination in collectors.keys { collectors[destination]?.correct(at: now) }
        pending.removeAll { !destinations.contains($0.destination) || !$0.isSound }
        // Stored data may state any size, so it is computed again.
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
            // Pins that were never in force have an end in the distant past.
            times.contains(facts.time) && facts.end.map { (-times.upperBound...times.upperBound).contains($0) } != false
                && (0...1).contains(facts.fraction)
        case .summary(let facts): facts.isSound
        }
    }
}
