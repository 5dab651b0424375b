public import Foundation
import Holdfast

/// The times between a change and its arrival at clients.
///
/// ```swift
/// let timing = PublicationTiming(staleness: .seconds(7 * 86_400), canary: .seconds(86_400))
/// let last = timing.lastSafePublication(before: lockout)
/// ```
/// Staleness, waiting time, first lock-out and the end of an approval are computed only here, so that commands, pages,
/// metrics and notices always agree.
public struct PublicationTiming: Sendable, Hashable {
    /// The maximum time for which a client continues to use a replaced document without fetching.
    public var staleness: Duration
    /// The time for which only the canary has a change; zero without a canary.
    public var canary: Duration

    /// The default staleness: seven days. Certificates live for 47 days from 2029 on, and a change of pins has to fit
    /// into a part of that.
    public static let usualStaleness: Duration = .seconds(7 * 86_400)
    /// The time that people have to approve a change: seven days.
    public static let approvalSpan: Duration = .seconds(7 * 86_400)
    /// The maximum time between an alert and the last safe publication: two weeks.
    public static let maximumLead: Duration = .seconds(14 * 86_400)

    /// Collects the times of an app.
    /// - Parameters:
    ///   - staleness: the maximum time since a client last fetched.
    ///   - canary: for how long only the canary has a change.
    public init(staleness: Duration = Self.usualStaleness, canary: Duration = .zero) {
        self.staleness = staleness
        self.canary = canary
    }

    // MARK: Waiting time

    /// The waiting time: how long it takes until every client has a change, canary included.
    public var wait: Duration { staleness + canary }

    /// The first instant at which every client has a change whose publication, canary first, begins at an instant.
    public func reach(ofChangeBegunAt instant: Date) -> Date { instant.addingTimeInterval(wait.inSeconds) }

    /// The first instant at which no client uses a document that was replaced at an instant.
    public func lastUse(ofDocumentReplacedAt instant: Date) -> Date { instant.addingTimeInterval(staleness.inSeconds) }

    /// The first instant at which no client uses a document that was replaced at an instant, if the document also ends
    /// by itself.
    /// - Parameters:
    ///   - instant: when it was replaced.
    ///   - lifetime: the maximum remaining validity at that time; nil for a document without an end.
    public func lastUse(ofDocumentReplacedAt instant: Date, lasting lifetime: Duration?) -> Date {
        let last = lastUse(ofDocumentReplacedAt: instant)
        guard let lifetime else { return last }
        return min(last, instant.addingTimeInterval(lifetime.inSeconds))
    }

    /// Whether something ends before a wait is over: in or before the second in which the wait ends.
    /// - Parameters:
    ///   - end: the first instant at which it is no longer valid.
    ///   - wait: the first instant after the wait.
    public static func ends(_ end: Date, beforeEndOfWait wait: Date) -> Bool { end.wholeSeconds <= wait.wholeSeconds }

    /// The latest replacement time of a document that no client uses at an instant.
    public func oldestReplacement(inUseAt instant: Date) -> Date { instant.addingTimeInterval(-staleness.inSeconds) }

    /// Whether something ends before every client that fetched right before an instant has fetched again, to the
    /// second.
    /// - Parameters:
    ///   - end: the first instant at which it is no longer valid.
    ///   - instant: when clients fetched.
    public func endsBeforeClientsAsk(_ end: Date, at instant: Date) -> Bool {
        end <= lastUse(ofDocumentReplacedAt: instant).addingTimeInterval(1)
    }

    /// Whether every client has the publication of a renewal before the old certificate ends.
    ///
    /// A certificate is valid until the end of a second, and people count whole days: one second is ignored.
    /// - Parameter remaining: for how long the old certificate is valid after the renewal.
    public func fitsRenewal(leaving remaining: Duration) -> Bool { wait <= remaining + .seconds(1) }

    /// Whether a change fits into a quarter of a certificate's lifetime, as formats that name certificates require.
    public func fitsQuarter(of lifetime: Duration) -> Bool { wait * 4 <= lifetime }

    // MARK: First lock-out

    /// The first instant at which a client is locked out if nothing is published: the earlier of the two ends.
    /// - Parameters:
    ///   - documents: the first instant at which a client has no valid document; nil for no end in sight.
    ///   - hosts: the first instant at which a host serves no chain that clients accept; nil for no end in sight.
    public func firstLockout(documents: Date?, hosts: Date?) -> Date? {
        [documents, hosts].compactMap(\.self).min()
    }

    /// The latest instant at which a publication reaches every client before a lock-out.
    public func lastSafePublication(before lockout: Date) -> Date { lockout.addingTimeInterval(-wait.inSeconds) }

    /// When people are alerted that a publication is needed before a lock-out.
    /// - Parameters:
    ///   - lockout: the first instant at which a client is locked out.
    ///   - lead: the time that people get; see ``lead(forLifetimes:)``.
    public func alert(before lockout: Date, lead: Duration) -> Date {
        lastSafePublication(before: lockout).addingTimeInterval(-lead.inSeconds)
    }

    /// The time that people get before the last safe publication: fourteen days, or a third of the shortest lifetime of
    /// a certificate. Without that limit, an operator who renews twice a week would be alerted every day.
    public static func lead(forLifetimes lifetimes: [Duration]) -> Duration {
        min(maximumLead, lifetimes.min().map { $0 / 3 } ?? maximumLead)
    }

    // MARK: Approvals

    /// When people can no longer approve a change.
    public static func changeEnd(ofChangeProposedAt proposed: Date) -> Date {
        proposed.addingTimeInterval(approvalSpan.inSeconds)
    }

    /// When an approval of a change that is signed now ends: with the change, extended by the time of the canary.
    /// - Parameters:
    ///   - proposed: when the change was proposed.
    ///   - skippingCanary: whether all clients get the change at once.
    public func approvalEnd(ofChangeProposedAt proposed: Date, skippingCanary: Bool = false) -> Date {
        Self.changeEnd(ofChangeProposedAt: proposed).addingTimeInterval(skippingCanary ? 0 : canary.inSeconds)
    }

    /// The first instant at which all clients can get a change that the canary got at an instant.
    public func canaryEnd(begunAt began: Date) -> Date { began.addingTimeInterval(canary.inSeconds) }
}
