import Foundation
public import Holdfast

/// The time at which answers are signed: none while the clock stands before what was signed last, or was set by more than
/// ten minutes since the process began.
public struct SigningTime: Sendable {
    private let clock: any WallClock
    private let catalog: Catalog
    private let began: (wall: Int64, steady: ContinuousClock.Instant)

    /// In seconds: more than any clock drifts that is kept right, and less than clients mind.
    private static let tolerance: Int64 = 600

    /// Begins now.
    public init(_ clock: any WallClock, _ catalog: Catalog) {
        self.clock = clock
        self.catalog = catalog
        began = (Self.seconds(clock), .now)
    }

    /// Seconds since 1970; nil if nothing may be signed.
    public var now: Int64? { problem == nil ? Self.seconds(clock) : nil }

    /// Why nothing may be signed; nil if it may.
    public var problem: ServerError? {
        let wall = Self.seconds(clock)
        let latest = catalog.ledger.latestTime
        guard wall >= latest else {
            return ServerError(.clock, expected: "a time from \(Self.text(latest)) on", found: Self.text(wall))
        }
        let expected = began.wall + (ContinuousClock.now - began.steady).components.seconds
        guard abs(wall - expected) <= Self.tolerance else {
            return ServerError(.clock, expected: "about \(Self.text(expected))", found: Self.text(wall))
        }
        return nil
    }

    private static func text(_ seconds: Int64) -> String { UTCText.encode(seconds) ?? "\(seconds)" }

    private static func seconds(_ clock: any WallClock) -> Int64 {
        Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0
    }
}
