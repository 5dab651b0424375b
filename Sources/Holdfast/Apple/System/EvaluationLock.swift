#if canImport(Security)
import Foundation
import Security

/// Keeps the evaluations of one of the system's trusts apart, whichever objects of Holdfast's they come from.
///
/// An evaluation sets policy, date and anchors, and takes them back: another one at the same time would judge by them, or
/// by the system's anchors where it was given its own. A session may ask about one connection more than once. The lock
/// belongs to the trust, so that nobody waits for another connection's evaluation.
final class EvaluationLock: Sendable {
    private struct Entry {
        /// Held through an evaluation, which may wait for the network; so it is no ``Lock``, which is for a few instructions.
        let lock = NSLock()
        var owners = 0
    }

    /// Of each trust that is being judged.
    private static let entries = Lock<[Swift.ObjectIdentifier: Entry]>([:])

    private let trust: Swift.ObjectIdentifier
    private let lock: NSLock

    /// - Parameter trust: kept by the caller for as long as this is, since its address stands for it.
    init(of trust: SecTrust) {
        let identifier = Swift.ObjectIdentifier(trust)
        self.trust = identifier
        lock = Self.entries.withLock { entries in
            entries[identifier, default: Entry()].owners += 1
            return entries[identifier, default: Entry()].lock
        }
    }

    deinit {
        let identifier = trust
        Self.entries.withLock { entries in
            entries[identifier]?.owners -= 1
            if entries[identifier]?.owners == 0 { entries[identifier] = nil }
        }
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try lock.withLock(body) }
}
#endif
