#if os(macOS) || os(Linux)
import HoldfastNIOTesting

extension ForeignProgram {
    package static let wholeLoopbackBlock = ForeignProgram(
        "all of 127.0.0.0/8", .machine, runsTests: LoopbackFleet.hasWholeBlock)
    package static let ipv6Loopback = ForeignProgram("::1", .machine, runsTests: LoopbackFleet.hasIPv6)
}
#endif
