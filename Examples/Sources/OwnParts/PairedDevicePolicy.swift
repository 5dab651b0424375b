import Foundation
import Holdfast

/// A policy: trusts devices that were paired, by their keys alone. It asks for no path to an authority.
public struct PairedDevicePolicy: TrustPolicy {
    /// The hosts that it decides about.
    public let scope: PolicyScope
    /// The keys of the paired devices.
    public let keys: Set<Pin>

    /// Makes a policy for the devices of a host or a pattern, such as `**.devices.example`.
    public init(hostName: String, keys: Set<Pin>) {
        scope = PolicyScope(hostName: hostName)
        self.keys = keys
    }

    /// An adapter need not fetch more than the leaf, whose key the handshake proves.
    public var evidence: PolicyEvidence { .leaf }

    /// Every decision rests on a key, so the policy may stand where any member of a composite is enough.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

    /// Trusts a covered host that shows a paired key.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        do throws(TrustFailure) {
            let host = try scope.host(of: trust)
            guard let leaf = trust.chain.leaf, let pin = try? Pin.publicKey(of: leaf), keys.contains(pin) else {
                throw TrustFailure(.pinMismatch, expected: "the key of a paired device", found: "another")
            }
            return TrustDecision(
                .trusted, policyName: hostName, host: host, time: time, chain: trust.chain, matchedPins: [pin])
        } catch {
            return TrustDecision(
                .rejected(error), policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }
}
