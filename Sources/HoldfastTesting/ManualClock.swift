public import Foundation
public import Holdfast

/// A clock that stands still until the test moves it.
///
/// Hand it to the authority and to what is under test, and certificates expire when the test says so.
public final class ManualClock: WallClock {
    private let time: Lock<Date>

    /// Makes a clock that shows `now`.
    ///
    /// A test that also talks to a party with a clock of its own (another TLS library, a foreign program) starts at
    /// `SystemWallClock().now`; any other is best served by a date that it chooses.
    public init(now: Date) {
        time = Lock(now)
    }

    /// The time that the clock shows.
    public var now: Date { time.withLock { $0 } }

    /// Moves the clock by `seconds`; a negative number moves it back.
    public func advance(by seconds: TimeInterval) {
        time.withLock { $0 = $0.addingTimeInterval(seconds) }
    }

    /// Sets the clock to `date`.
    public func set(_ date: Date) {
        time.withLock { $0 = date }
    }
}
