import Synchronization

/// How many signer programs run for challenges at a time: whoever asks beyond that is asked to come back, so that a
/// program that hangs costs a few threads and no more.
final class ProgramSlots: Sendable {
    /// A program that may run.
    struct Slot: Sendable {
        fileprivate let slots: ProgramSlots
        fileprivate let app: AppName

        /// The program has ended.
        func release() {
            slots.taken.withLock { taken in
                let left = (taken[app] ?? 1) - 1
                taken[app] = left > 0 ? left : nil
            }
        }
    }

    /// As many as processors of a small machine can start without making everything else wait.
    static let maximumCount = 8

    /// How many of them one app has: its program may hang, while those of others do not.
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
