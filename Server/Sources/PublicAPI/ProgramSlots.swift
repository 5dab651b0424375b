import ServerFoundation
import Synchronization

/// Limits the number of signer programs that run for challenges at the same time. Further clients must retry, so that a
/// program that hangs blocks only a few threads.
final class ProgramSlots: Sendable {
    /// The permission to run a program.
    struct Slot: Sendable {
        fileprivate let slots: ProgramSlots
        fileprivate let app: AppName

        /// Releases the slot after the program has ended.
        func release() {
            slots.taken.withLock { taken in
                let left = (taken[app] ?? 1) - 1
                taken[app] = left > 0 ? left : nil
            }
        }
    }

    /// Maximum number of programs: a small machine can start as many without delaying everything else.
    static let maximumCount = 8

    /// Maximum number of programs of one app: its program may hang while those of other apps work.
    static let maximumShare = 4

    private let taken = Mutex<[AppName: Int]>([:])

    /// - Returns: nil if all are taken.
    func take(for app: AppName) -> Slot? {
        taken.withLock { taken in
            let own = taken[app] ?? 0
            guard own < Self.maximumShare, taken.values.reduce(0, +) < Self.maximumCount else { return nil }
            taken[app] = own + 1
            return Slot(slots: self, app: app)
        }
    }
}
