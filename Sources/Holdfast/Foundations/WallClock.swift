public import Foundation

/// Tells the time of day, for which certificates, pins and documents are evaluated.
///
/// Everything that needs the time takes one, so that a test can set it and an application can put a better source in
/// place of the device's clock. Called from any thread; an implementation must be quick and must not block.
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

    /// What the operating system says the time is.
    public var now: Date { Date() }
}
