import Foundation
package import HoldfastPublishing
package import ServerApprovals

extension AppSettings {
    /// The times between a change and its clients, for every surface that states them.
    package var timing: PublicationTiming {
        PublicationTiming(staleness: .seconds(staleness), canary: .seconds(canary))
    }

    /// The times of a change that forces some gates; without a canary if it skips that.
    package func timing(forcing forced: Set<Gate>) -> PublicationTiming {
        PublicationTiming(staleness: .seconds(staleness), canary: .seconds(canary(forcing: forced)))
    }
}

/// The times in seconds since 1970, as in the database.
extension PublicationTiming {
    private static func seconds(_ time: Int64, _ body: (Date) -> Date) -> Int64 {
        Int64(clamping: body(date(time)).timeIntervalSince1970)
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// The waiting time in seconds.
    package var waitSeconds: Int64 { wait.components.seconds }

    /// The time at which every client has a change whose publication begins at a time.
    package func reach(of begun: Int64) -> Int64 { Self.seconds(begun, reach(ofChangeBegunAt:)) }

    /// The time after which no client uses a document that was replaced at a time.
    package func lastUse(ofReplaced replaced: Int64) -> Int64 { Self.seconds(replaced, lastUse(ofDocumentReplacedAt:)) }

    /// The latest replacement after which no client uses the document anymore at a time.
    package func oldestReplacement(at now: Int64) -> Int64 { Self.seconds(now, oldestReplacement(inUseAt:)) }

    /// Whether something ends before every client has requested an update.
    /// - Parameter last: the last second at which it is valid.
    package func endsBeforeClientsAsk(_ last: Int64, at now: Int64) -> Bool {
        endsBeforeClientsAsk(Self.date(last + 1), at: Self.date(now))
    }

    /// The last second at which a publication reaches every client before a lock-out.
    package func lastSafePublication(before lockout: Int64) -> Int64 {
        Self.seconds(lockout, lastSafePublication(before:))
    }

    /// The second from which people are alerted.
    package func alert(before lockout: Int64, lead: Duration) -> Int64 {
        Self.seconds(lockout) { alert(before: $0, lead: lead) }
    }

    /// The first second at which a client is locked out if nothing is published.
    package func firstLockout(documents: Int64, hosts: Int64?) -> Int64 {
        Self.seconds(documents) { documents in
            firstLockout(documents: documents, hosts: hosts.map(Self.date)) ?? documents
        }
    }

    /// The last second at which people can approve a change.
    package static func changeEnd(of proposed: Int64) -> Int64 { seconds(proposed, changeEnd(ofChangeProposedAt:)) }

    /// The last second at which an approval is valid that is signed now; for a change that skips the canary, made with
    /// ``AppSettings/timing(forcing:)``.
    package func approvalEnd(of proposed: Int64) -> Int64 {
        Self.seconds(proposed) { approvalEnd(ofChangeProposedAt: $0) }
    }

    /// The time at which all clients can get a change that the canary got at a time.
    package func canaryEnd(of began: Int64) -> Int64 { Self.seconds(began, canaryEnd(begunAt:)) }
}

extension Int64 {
    /// Rounds down to whole seconds; a value out of range becomes the nearest limit.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : .min)
    }
}
