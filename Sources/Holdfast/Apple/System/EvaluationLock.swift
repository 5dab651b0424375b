#if canImport(Security)
import Foundation
import Security

/// Serializes the evaluations of one of the system's trusts, no matter which of Holdfast's objects they come from.
///
/// An evaluation sets policy, date and anchors, and restores them: a concurrent one would use the wrong settings. A
/// session may evaluate one connection more than once. The lock belongs to the trust, so no connection waits for
/// another one's evaluation.
final class EvaluationLock: Sendable {
    private struct Entry {
        /// Held during an evaluation, which may wait for the network; a ``Lock`` is only for a few instructions.
        let lock = NSLock()
        var owners = 0
    }

    /// The locks of the trusts that are being evaluated.
    private static let entries = Lock<[Swift.ObjectIdentifier: Entry]>([:])

    private let trust: Swift.ObjectIdentifier
    private let lock: NSLock

    /// - Parameter trust: identified by its address, so the caller must keep it as long as this lock.
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
