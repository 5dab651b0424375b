import Foundation
import Holdfast

/// Divides a time into spans in which the result for a client does not change.
///
/// Every boundary is evaluated, and the second before the next one. If the two results differ, an input ends at a time
/// that is not among the boundaries; the search finds that second.
struct SpanSearch {
    let begins: Int64
    let ends: Int64
    /// The times of possible changes, in ascending order.
    let boundaries: [Int64]

    func spans(of trial: ClientTrial) -> [PublicationOutlook.Span] {
        var found: [(second: Int64, status: ClientTrial.Status)] = []
        var pending = Pending(boundaries)
        var second = begins
        while second < ends {
            let status = trial.status(at: second)
            if !(found.last?.status.isSame(as: status) ?? false) { found.append((second, status)) }
            pending.add(trial.pinEnds(at: second), after: second)
            let next = min(pending.next(after: second) ?? ends, ends)
            let last = next - 1
            if last > second, !trial.status(at: last).isSame(as: status) {
                second = change(of: trial, from: status, at: second, until: last)
            } else {
                second = next
            }
        }
        return spans(found)
    }

    /// A second after `first`, up to `last`, at which the client's result differs from before.
    private func change(
        of trial: ClientTrial, from status: ClientTrial.Status, at first: Int64, until last: Int64
    ) -> Int64 {
        var (same, other) = (first, last)
        while same + 1 < other {
            let middle = same + (other - same) / 2
            if trial.status(at: middle).isSame(as: status) { same = middle } else { other = middle }
        }
        return other
    }

    private func spans(_ found: [(second: Int64, status: ClientTrial.Status)]) -> [PublicationOutlook.Span] {
        found.indices.map { index in
            let (second, status) = found[index]
            var code = status.code
            // The grace period has ended.
            if !status.getsIn, index > 0, found[index - 1].status.isGrace, code == .pins || code == .document {
                code = .grace
            }
            let begins = Date(wholeSeconds: second)
            return PublicationOutlook.Span(
                start: begins, end: Date(wholeSeconds: index + 1 < found.count ? found[index + 1].second : ends),
                getsIn: status.getsIn, isGrace: status.isGrace,
                cause: code.map { PublicationOutlook.Cause($0, at: begins, status.words) }, notices: status.notices)
        }
    }

    /// Boundaries that are not reached yet.
    private struct Pending {
        private var seconds: [Int64]
        private var position = 0

        init(_ seconds: [Int64]) { self.seconds = seconds }

        mutating func add(_ more: [Int64], after second: Int64) {
            let new = more.filter { $0 > second && !seconds[position...].contains($0) }
            guard !new.isEmpty else { return }
            seconds = (seconds[position...] + new).sorted()
            position = 0
        }

        mutating func next(after second: Int64) -> Int64? {
            while position < seconds.count, seconds[position] <= second { position += 1 }
            return position < seconds.count ? seconds[position] : nil
        }
    }
}
