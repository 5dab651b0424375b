package import NIOHTTP1
import Synchronization

/// The decision about a request from its head, before its body is read.
package enum BodyAdmission: Sendable {
    /// The body is read, up to a number of bytes. The permit is held until then.
    case take(bytes: Int, BodyPermit)
    /// The response is sent at once, and the body is discarded.
    case refuse(ListenerAnswer)
}

/// Accounts for the memory of a body while it arrives. The memory is released with the last reference to the permit,
/// even if the connection ends before the body does.
package final class BodyPermit: Sendable {
    private let room: @Sendable (Int) -> Bool
    private let giveBack: @Sendable (Int) -> Void
    private let received = Mutex(0)

    /// - Parameters:
    ///   - room: reserves a number of bytes, and returns whether they were available.
    ///   - giveBack: releases all reserved bytes.
    package init(taking room: @escaping @Sendable (Int) -> Bool, _ giveBack: @escaping @Sendable (Int) -> Void) {
        self.room = room
        self.giveBack = giveBack
    }

    /// Reserves memory for a part of the body that has arrived.
    /// - Returns: whether it was available.
    func receive(_ bytes: Int) -> Bool {
        guard room(bytes) else { return false }
        received.withLock { $0 += bytes }
        return true
    }

    deinit { giveBack(received.withLock { $0 }) }
}

/// Decides from the head and the source of a request; nil if only the listener's limits apply.
package typealias ListenerAdmission = @Sendable (HTTPRequestHead, SourcePrefix) -> BodyAdmission?
