import Foundation
public import HoldfastPublishing

extension AppSettings {
    /// The times between a change and its clients, for every surface that states them.
    public var timing: PublicationTiming {
        PublicationTiming(staleness: .seconds(staleness), canary: .seconds(canary))
    }

    /// The times of a change that passes some gates whatever they find: without a canary if it skips that.
    func timing(forcing forced: Set<Gate>) -> PublicationTiming {
        PublicationTiming(staleness: .seconds(staleness), canary: .seconds(canary(forcing: forced)))
    }
}

/// The same in seconds since 1970, as the database has times.
extension PublicationTiming {
    private static func seconds(_ time: Int64, _ body: (Date) -> Date) -> Int64 {
        Int64(clamping: body(date(time)).timeIntervalSince1970)
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// The waiting time in seconds.
    var waitSeconds: Int64 { wait.components.seconds }

    /// When every client has a change whose publication begins at a time.
    func reach(of begun: Int64) -> Int64 { Self.seconds(begun, reach(ofChangeBegunAt:)) }

    /// When no client uses a document anymore that was replaced at a time.
    func lastUse(ofReplaced replaced: Int64) -> Int64 { Self.seconds(replaced, lastUse(ofDocumentReplacedAt:)) }

    /// The latest replacement after which no client uses the document anymore at a time.
    func oldestReplacement(at now: Int64) -> Int64 { Self.seconds(now, oldestReplacement(inUseAt:)) }

    /// Whether something ends before every client has asked again.
    /// - Parameter last: the last second at which it counts.
    func endsBeforeClientsAsk(_ last: Int64, at now: Int64) -> Bool {
        endsBeforeClientsAsk(Self.date(last + 1), at: Self.date(now))
    }

    /// The last second at which a publication reaches every client before a lock-out.
    func lastSafePublication(before lockout: Int64) -> Int64 { Self.seconds(lockout, lastSafePublication(before:)) }

    /// The second from which people are alerted.
    func alert(before lockout: Int64, lead: Duration) -> Int64 {
        Self.seconds(lockout) { alert(before: $0, lead: lead) }
    }

    /// The first second at which a client is locked out if nothing is published.
    func firstLockout(documents: Int64, hosts: Int64?) -> Int64 {
        Self.seconds(documents) { documents in
            firstLockout(documents: documents, hosts: hosts.map(Self.date)) ?? documents
        }
    }

    /// The last second at which people can approve a change.
    static func changeEnd(of proposed: Int64) -> Int64 { seconds(proposed, changeEnd(ofChangeProposedAt:)) }

    /// The last second at which an approval is valid that is signed now; for a change that skips the canary, made with
    /// ``AppSettings/timing(forcing:)``.
    func approvalEnd(of proposed: Int64) -> Int64 { Self.seconds(proposed) { approvalEnd(ofChangeProposedAt: $0) } }

    /// When all clients can get a change that the canary got at a time.
    func canaryEnd(of began: Int64) -> Int64 { Self.seconds(began, canaryEnd(begunAt:)) }
}

extension Int64 {
    /// Cut to whole seconds; what no clock shows is the nearest that one can.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : .min)
    }
}
