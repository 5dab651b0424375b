import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastProbe

@Suite("Threads of probes", .timeLimit(.minutes(5)))
struct ProbeThreadsTests {
    @Test("Whoever gives threads to a probe has handshakes and decisions on them, and on no others")
    func ownThreads() async throws {
        final class Noting: TrustPolicy {
            let scope = PolicyScope(hostName: LoopbackFleet.name)
            let loop: any EventLoop
            let isThere = Lock<[Bool]>([])
            init(_ loop: any EventLoop) { self.loop = loop }
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
                isThere.withLock { $0.append(loop.inEventLoop) }
                return TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
            }
        }
        let root = try TestAuthority.root()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await LoopbackFleet.with([("127.0.0.1", try root.leaf(names: [.dns(LoopbackFleet.name)]))]) { fleet in
            var probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
            probe.eventLoopGroup = group
            let policy = Noting(group.any())
            let findings = await probe.ask(try fleet.host, policy: policy)
            #expect(findings.failures.isEmpty)
            let isThere = policy.isThere.withLock { $0 }
            #expect(!isThere.isEmpty && !isThere.contains(false))
        }
        try await group.shutdownGracefully()
    }
}
