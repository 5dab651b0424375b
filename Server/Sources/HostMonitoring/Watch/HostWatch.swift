import Foundation
import Holdfast
import HoldfastProbe
import ServerFoundation
import ServerModel

/// Probes every address of a host with the code that clients use.
///
/// Anyone who may add hosts chooses their names, so it dials only public addresses, and those that the operator
/// allowed: the probe filters the resolved addresses, dials the permitted ones, and verifies the address of the
/// connected socket.
struct HostWatch: Sendable {
    private let validator: any ChainValidator
    private let clock: any WallClock
    private let probe: HostProbe

    /// - Parameters:
    ///   - validator: validates the presented chains as clients do.
    ///   - allowed: the blocks of addresses that are permitted although they are not public.
    ///   - clock: the time of each decision.
    ///   - resolver: resolves names to addresses.
    ///   - deadlines: the time limits of a host.
    init(
        validator: any ChainValidator, allowing allowed: [AddressBlock] = [], clock: any WallClock = SystemWallClock(),
        resolver: AddressResolver = .system, deadlines: ProbeDeadlines = ProbeDeadlines()
    ) {
        self.validator = validator
        self.clock = clock
        var probe = HostProbe(validator: validator)
        probe.clock = clock
        probe.filter = AddressFilter(allowing: allowed)
        probe.resolver = resolver
        probe.deadlines = deadlines
        probe.maximumChainBytes = CertificateChain.maximumBytes
        probe.eventLoopGroup = ProbeThread.group
        self.probe = probe
    }

    /// Probes a host. It never fails as a whole: an unreadable address is a finding.
    func look(at watched: WatchedHost) async -> [WatchFinding] {
        var probe = probe
        probe.connectTo = watched.dial
        probe.asksForOtherKeys = !watched.hasOneKeyKind
        let judge: Judge
        do {
            judge = try Judge(watched)
        } catch {
            return [
                WatchFinding(
                    place: watched.host.description, chain: [], verdict: .unreadable, words: "\(error)", key: nil)
            ]
        }
        return await probe.ask(watched.host, policy: judge.policy).sightings.map { sighting in
            let place = sighting.address?.description ?? watched.host.description
            switch sighting.result {
            case .failure(let failure):
                return WatchFinding(place: place, chain: [], verdict: .unreadable, words: failure.sentence, key: nil)
            case .success(let shown): return finding(of: shown.decision, at: place, by: judge)
            }
        }
    }

    /// The finding for an address that presented a chain.
    func finding(of decision: TrustDecision, at place: String, by judge: Judge) -> WatchFinding {
        let chain = decision.chain?.certificates ?? []
        let key = chain.first.flatMap { try? X509Certificate(der: $0) }.map { Digest(of: $0.subjectPublicKeyInfo) }
        let (verdict, words) = judge.verdict(decision, validator, at: clock.now)
        return WatchFinding(place: place, chain: chain, verdict: verdict, words: words, key: key)
    }

    /// Evaluates findings. Only ``PinnedPolicy`` decides whether a path satisfies pins.
    struct Judge {
        let policy: any TrustPolicy
        /// The same pins without standard validation; nil if the host has none.
        private let pinsAlone: PinnedPolicy?
        private let host: DialedHost

        init(_ watched: WatchedHost) throws {
            let pattern = try HostPattern(watched.host.name)
            host = watched.host
            guard let known = watched.known else {
                policy = StandardPolicy(host: pattern)
                pinsAlone = nil
                return
            }
            policy = try PinnedPolicy(host: pattern, pins: known)
            pinsAlone = try PinnedPolicy(
                host: pattern, pins: known, validatesHostName: false, certificatePinOnly: true)
        }

        /// Whether clients accept a chain of the host. This does not prove that the host has the key of the leaf.
        func accepts(_ chain: CertificateChain, validator: any ChainValidator, at time: Date) -> Bool {
            let trust = ServerTrust(
                chain: PresentedChain(chain.certificates), purpose: .server(identity: host), validator: validator)
            return pinsAlone != nil && policy.evaluate(trust, at: time).isTrusted
        }

        func verdict(
            _ decision: TrustDecision, _ validator: any ChainValidator, at time: Date
        ) -> (WatchFinding.Verdict, String) {
            let reason = decision.failure.map { "\($0)" } ?? ""
            guard let pinsAlone else { return (.unpinned, reason) }
            guard !decision.isTrusted else { return (.known, "") }
            let trust = ServerTrust(
                chain: decision.chain ?? PresentedChain([]), purpose: .server(identity: host), validator: validator)
            return (pinsAlone.evaluate(trust, at: time).isTrusted ? .invalid : .unannounced, reason)
        }
    }
}
