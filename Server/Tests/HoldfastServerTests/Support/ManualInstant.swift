import Synchronization

/// Nanoseconds that a test turns.
final class ManualInstant: Sendable {
    let value = Mutex<UInt64>(0)
}
