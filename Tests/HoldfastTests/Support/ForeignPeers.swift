import Foundation

/// Whether tests that need a foreign program run where it may be missing: then they fail instead of being skipped.
enum ForeignPeers {
    static let areRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"
}
