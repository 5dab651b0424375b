package import Foundation
import Holdfast

/// A clock that stands still.
package struct TUFFixedClock: WallClock {
    package let now: Date

    package init(now: Date) { self.now = now }

    /// Before anything expires.
    static let beforeEverything = TUFFixedClock(now: .distantPast)
}
