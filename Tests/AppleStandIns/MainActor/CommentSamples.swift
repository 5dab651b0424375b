import Foundation
import Holdfast

// The types that examples in Holdfast's comments declare, in an app whose default isolation is the main actor.
// scripts/check apple compiles them, and DocumentTests compares them with the comments, line by line.

nonisolated struct PairedDevices: Sendable {
    var revision: UInt64 { 0 }

    func isPaired(_ host: DialedHost, _ leaf: [UInt8]) -> Bool { false }
}

/// Trusts devices that were paired, by the keys that the application keeps.
nonisolated struct PairedDevicePolicy: TrustPolicy {
    let scope = PolicyScope(hostName: "**.devices.example")
    let devices: PairedDevices

    // The leaf's key is all that counts, and the handshake proves it.
    var evidence: PolicyEvidence { .leaf }
    // Connections are judged again after a device was removed.
    var revision: UInt64 { devices.revision }
    // Every decision is proved by a key, so the policy may stand beside others of which any is enough.
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        func decision(_ verdict: TrustDecision.Verdict) -> TrustDecision {
            TrustDecision(verdict, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
        do throws(TrustFailure) {
            let host = try scope.host(of: trust)
            guard let host, let leaf = trust.chain.leaf, devices.isPaired(host, leaf) else {
                throw TrustFailure(.pinMismatch, expected: "the key of a paired device", found: "another")
            }
            return decision(.trusted)
        } catch {
            return decision(.rejected(error))
        }
    }
}

nonisolated struct ConfigurationService: Sendable {
    var version: UInt64 { 0 }

    func pins(of name: String) -> PinSet? { nil }
}

/// Pins from a configuration service of the application's own.
nonisolated struct ConfiguredPins: PinSource {
    let service: ConfigurationService
    var revision: UInt64 { service.version }

    func answer(to question: PinQuestion) -> PinAnswer {
        guard let host = question.host, let pins = service.pins(of: host.name) else {
            return .none(
                .notCovered, TrustFailure(.noUsablePins, expected: "pins for the host", found: "none"),
                at: question.time)
        }
        return .required(pins, at: question.time)
    }
}

nonisolated struct CountingValidator: ChainValidator {
    let base: PathValidator
    var pathValidator: PathValidator? { base }

    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        base.validate(chain, for: purpose, at: time, accepting: accepting)
    }
}

extension TrustFailure.Code {
    nonisolated static var notAttested: Self { Self(rawValue: "notAttested") }
}

func keepUpToDate(_ stores: [any UpdatingStore]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for store in stores { group.addTask { try await store.run() } }
        try await group.waitForAll()
    }
}
