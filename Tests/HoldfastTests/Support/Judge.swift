import Foundation
import HoldfastTesting

@testable import Holdfast

/// Calls that the validation tests share, at a fixed time.
enum Judge {
    static let now = Date(timeIntervalSince1970: 2_000_000_000)
    static let clock = ManualClock(now: now)
    static let host = "www.example.com"

    static func root(
        _ name: TestName = "Test Root", key: TestKey.Choice = .p256,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        try TestAuthority.root(name: name, key: key, clock: clock, configure: configure)
    }

    static func outcome(
        _ chain: [[UInt8]], trusting anchors: [[UInt8]], for host: String? = host, at time: Date = now,
        limits: ValidationLimits = ValidationLimits(), accepting: (ValidatedPath) -> Bool = { _ in true }
    ) throws -> ValidationOutcome {
        let identity = try host.map { text throws(HostError) in try DialedHost(text) }
        let validator = PathValidator(anchors: try TrustAnchors(der: anchors), limits: limits)
        return validator.validate(
            PresentedChain(chain), for: .server(identity: identity), at: time, accepting: accepting)
    }

    /// nil for an accepted chain, the code of the failure for another.
    static func complaint(
        _ chain: [[UInt8]], trusting anchors: [[UInt8]], for host: String? = host, at time: Date = now,
        limits: ValidationLimits = ValidationLimits()
    ) throws -> TrustFailure.Code? {
        let outcome = try outcome(chain, trusting: anchors, for: host, at: time, limits: limits)
        guard outcome.path == nil else { return nil }
        return outcome.failure?.code ?? .rejectedBySystem
    }

    /// The violation of one rule by a certificate made from `specification`, whose authority does not matter.
    static func violation(
        of rule: PathRule, _ specification: CertificateSpecification, key: TestKey.Choice = .p256,
        isServer: Bool = true, checksValidity: Bool = true, at time: Date = now
    ) throws -> TrustFailure.Code? {
        let certificate = try X509Certificate(der: TestAuthority.selfSigned(specification, key: key, clock: clock).der)
        let context = PathRuleContext(
            time: time.wholeSeconds, isServer: isServer, checksValidity: checksValidity)
        return rule.violation(of: certificate, in: context)?.code
    }
}

extension CertificateSpecification {
    /// A copy with changes.
    func with(_ change: (inout CertificateSpecification) -> Void) -> CertificateSpecification {
        var copy = self
        change(&copy)
        return copy
    }

    static let testCA = intermediate("Test CA")
    static let testLeaf = leaf(names: ["www.example.com"])
}
