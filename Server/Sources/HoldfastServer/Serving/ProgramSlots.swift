import Synchronization

/// How many signer programs run for challenges at a time: whoever asks beyond that is asked to come back, so that a
/// program that hangs costs a few threads and no more.
final class ProgramSlots: Sendable {
    /// A program that may run.
    struct Slot: Sendable {
        fileprivate let slots: ProgramSlots

        /// The program has ended.
        func release() { slots.taken.withLock { $0 -= 1 } }
    }

    /// As many as processors of a small machine can start without making everything else wait.
    static let greatestCount = 8

    private let taken = Mutex(0)

    /// - Returns: nil if all are taken.
    func take() -> Slot? {
        taken.withLock { taken in
            guard taken < Self.greatestCount else { return nil }
            taken += 1
            return Slot(slots: self)
        }
    }
}
