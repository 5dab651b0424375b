import NIOHTTP1
import Synchronization

/// What is decided about a request by its head, before its body is read.
enum BodyAdmission: Sendable {
    /// The body is read, up to so many bytes. The permit is held meanwhile.
    case take(bytes: Int, BodyPermit)
    /// The answer is given at once, and the body is thrown away.
    case refuse(ListenerAnswer)
}

/// Room for a body that is on its way, as far as it has come. It is given back when nobody holds the permit anymore, also if
/// the connection ends before the body does.
final class BodyPermit: Sendable {
    private let room: @Sendable (Int) -> Bool
    private let giveBack: @Sendable (Int) -> Void
    private let received = Mutex(0)

    /// - Parameters:
    ///   - room: takes room for so many bytes, and says whether there was any.
    ///   - giveBack: gives back everything that was taken.
    init(taking room: @escaping @Sendable (Int) -> Bool, _ giveBack: @escaping @Sendable (Int) -> Void) {
        self.room = room
        self.giveBack = giveBack
    }

    /// Takes room for a part of the body that has come.
    /// - Returns: whether there was any.
    func receive(_ bytes: Int) -> Bool {
        guard room(bytes) else { return false }
        received.withLock { $0 += bytes }
        return true
    }

    deinit { giveBack(received.withLock { $0 }) }
}

/// Looks at the head of a request, and where it comes from; nil for one that the limits of the listener are for.
typealias ListenerAdmission = @Sendable (HTTPRequestHead, SourcePrefix) -> BodyAdmission?
