import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerStore

extension World {
    /// Time passes for the canary: every hour the host is seen, rounds are signed, and clients look with what it has. All
    /// of them get in.
    func followCanary(
        for seconds: Int64 = 86_400, from publisher: Publisher? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let publisher = publisher ?? self.publisher
        var rest = seconds
        while rest > 0 {
            let step = min(rest, CanaryProbes.maximumPause)
            try await pass(step)
            #expect(try await publisher.renew().problems == [], sourceLocation: sourceLocation)
            #expect(await publisher.probeCanaries() == [], sourceLocation: sourceLocation)
            rest -= step
        }
    }
}
