public import Foundation

/// Provides the time of day, for which certificates, pins and documents are evaluated.
///
/// Everything that needs the time takes a clock, so a test can set the time and an application can supply a better
/// source than the device's clock. Called from any thread; an implementation must be quick and must not block.
public protocol WallClock: Sendable {
    /// The current time.
    var now: Date { get }
}

/// The clock of the operating system, the default wherever a `WallClock` is taken.
///
/// The device's owner can set it at will, so it proves nothing against the owner.
public struct SystemWallClock: WallClock {
    /// Makes the clock; all of them are equal.
    public init() {}

    /// The operating system's current time.
    public var now: Date { Date() }
}
