public import Foundation
public import Holdfast

/// A clock that stands still until the test moves it.
///
/// Give it to the authority and to the code under test. Then the test controls when certificates expire.
public final class ManualClock: WallClock {
    private let time: Lock<Date>

    /// Makes a clock that shows `now`.
    ///
    /// If a test also talks to a party with its own clock, such as another TLS library or a foreign program, start at
    /// `SystemWallClock().now`. Otherwise choose any fixed date.
    public init(now: Date) {
        time = Lock(now)
    }

    /// The time that the clock shows.
    public var now: Date { time.withLock { $0 } }

    /// Moves the clock ahead by `duration`; a negative one moves it back.
    public func advance(by duration: Duration) {
        time.withLock { $0 = $0.addingTimeInterval(duration.inSeconds) }
    }

    /// Sets the clock to `date`.
    public func set(_ date: Date) {
        time.withLock { $0 = date }
    }
}
