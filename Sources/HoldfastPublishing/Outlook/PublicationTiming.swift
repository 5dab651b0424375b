public import Foundation
import Holdfast

/// The times between a change and the clients that follow it.
///
/// ```swift
/// let timing = PublicationTiming(staleness: .seconds(7 * 86_400), canary: .seconds(86_400))
/// let last = timing.lastSafePublication(before: lockout)
/// ```
/// Staleness, waiting time, first lock-out and the end of an approval are computed here alone, so that a command, a page, a
/// metric and a notice cannot disagree.
public struct PublicationTiming: Sendable, Hashable {
    /// The longest time for which a client continues to use a document that was replaced, and may not have asked.
    public var staleness: Duration
    /// The time for which the canary has a change before all other clients; zero without a canary.
    public var canary: Duration

    /// The staleness if nobody states one: seven days. Certificates live for 47 days from 2029 on, and a change of pins has
    /// to fit into a part of that.
    public static let usualStaleness: Duration = .seconds(7 * 86_400)
    /// The time that people have to approve a change: seven days.
    public static let approvalSpan: Duration = .seconds(7 * 86_400)
    /// The longest time before the last safe publication at which people are alerted: two weeks.
    public static let maximumLead: Duration = .seconds(14 * 86_400)

    /// Collects the times of an app.
    /// - Parameters:
    ///   - staleness: how long a client may not have asked.
    ///   - canary: for how long the canary has a change alone.
    public init(staleness: Duration = Self.usualStaleness, canary: Duration = .zero) {
        self.staleness = staleness
        self.canary = canary
    }

    // MARK: Waiting time

    /// The waiting time: how long it takes until every client has a change, canary included.
    public var wait: Duration { staleness + canary }

    /// The first instant at which every client has a change whose publication begins at an instant, with the canary first.
    public func reach(ofChangeBegunAt instant: Date) -> Date { instant.addingTimeInterval(wait.inSeconds) }

    /// The first instant at which no client uses a document anymore that was replaced at an instant.
    public func lastUse(ofDocumentReplacedAt instant: Date) -> Date { instant.addingTimeInterval(staleness.inSeconds) }

    /// The first instant at which no client uses a document anymore that was replaced at an instant, if it also ends by
    /// itself.
    /// - Parameters:
    ///   - instant: when it was replaced.
    ///   - lifetime: for how long it is valid at most from then on; nil for a document without an end.
    public func lastUse(ofDocumentReplacedAt instant: Date, lasting lifetime: Duration?) -> Date {
        let last = lastUse(ofDocumentReplacedAt: instant)
        guard let lifetime else { return last }
        return min(last, instant.addingTimeInterval(lifetime.inSeconds))
    }

    /// Whether something ends before a wait is over: in or before the second in which the wait ends.
    /// - Parameters:
    ///   - end: the first instant at which it no longer counts.
    ///   - wait: the first instant at which nothing has to be waited for.
    public static func ends(_ end: Date, beforeEndOfWait wait: Date) -> Bool { end.wholeSeconds <= wait.wholeSeconds }

    /// The latest replacement of a document after which no client uses it anymore at an instant.
    public func oldestReplacement(inUseAt instant: Date) -> Date { instant.addingTimeInterval(-staleness.inSeconds) }

    /// Whether something ends before every client has asked again that asked right before an instant, to the second.
    /// - Parameters:
    ///   - end: the first instant at which it no longer counts.
    ///   - instant: when clients asked.
    public func endsBeforeClientsAsk(_ end: Date, at instant: Date) -> Bool {
        end <= lastUse(ofDocumentReplacedAt: instant).addingTimeInterval(1)
    }

    /// Whether every client has what is published when a certificate is renewed before the old certificate ends.
    ///
    /// A certificate is valid until the end of a second, and people count whole days: one second does not matter.
    /// - Parameter remaining: for how long the old certificate is valid after the renewal.
    public func fitsRenewal(leaving remaining: Duration) -> Bool { wait <= remaining + .seconds(1) }

    /// Whether a change fits into a quarter of a certificate's lifetime, as formats need that name certificates.
    public func fitsQuarter(of lifetime: Duration) -> Bool { wait * 4 <= lifetime }

    // MARK: First lock-out

    /// The first instant at which a client is locked out if nothing is published: the earliest of what ends.
    /// - Parameters:
    ///   - documents: the first instant at which a client finds nothing that it accepts; nil for no end in sight.
    ///   - hosts: the first instant at which a host serves nothing that clients accept; nil for no end in sight.
    public func firstLockout(documents: Date?, hosts: Date?) -> Date? {
        [documents, hosts].compactMap(\.self).min()
    }

    /// The latest instant at which a publication reaches every client before a lock-out.
    public func lastSafePublication(before lockout: Date) -> Date { lockout.addingTimeInterval(-wait.inSeconds) }

    /// The instant from which people are alerted that something has to be published before a lock-out.
    /// - Parameters:
    ///   - lockout: the first instant at which a client is locked out.
    ///   - lead: how much time they get, as ``lead(forLifetimes:)`` says.
    public func alert(before lockout: Date, lead: Duration) -> Date {
        lastSafePublication(before: lockout).addingTimeInterval(-lead.inSeconds)
    }

    /// How much time people get before the last safe publication: fourteen days, or a third of the shortest lifetime of a
    /// certificate. An operator who renews twice a week would be alerted every day otherwise.
    public static func lead(forLifetimes lifetimes: [Duration]) -> Duration {
        min(maximumLead, lifetimes.min().map { $0 / 3 } ?? maximumLead)
    }

    // MARK: Approvals

    /// When people can no longer approve a change.
    public static func changeEnd(ofChangeProposedAt proposed: Date) -> Date {
        proposed.addingTimeInterval(approvalSpan.inSeconds)
    }

    /// When an approval of a change ends that is signed now: with the change, extended by the time that the canary takes.
    /// - Parameters:
    ///   - proposed: when the change was proposed.
    ///   - skippingCanary: whether everybody gets the change at once.
    public func approvalEnd(ofChangeProposedAt proposed: Date, skippingCanary: Bool = false) -> Date {
        Self.changeEnd(ofChangeProposedAt: proposed).addingTimeInterval(skippingCanary ? 0 : canary.inSeconds)
    }

    /// The first instant at which all clients can get a change that the canary got at an instant.
    public func canaryEnd(begunAt began: Date) -> Date { began.addingTimeInterval(canary.inSeconds) }
}
