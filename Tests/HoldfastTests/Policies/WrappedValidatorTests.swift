import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Pins alone, behind a validator of the application's own")
struct WrappedValidatorTests {
    /// Says nothing but what it must.
    private struct Silent: ChainValidator {
        let base: PathValidator

        func validate(
            _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
            accepting: (ValidatedPath) -> Bool
        ) -> ValidationOutcome {
            base.validate(chain, for: purpose, at: time, accepting: accepting)
        }
    }

    /// Passes on what the validator that it wraps says of itself.
    private struct Forwarding: ChainValidator {
        let base: PathValidator
        var pathValidator: PathValidator?

        func validate(
            _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
            accepting: (ValidatedPath) -> Bool
        ) -> ValidationOutcome {
            base.validate(chain, for: purpose, at: time, accepting: accepting)
        }
    }

    private let pki: PolicyFixture
    private let base: PathValidator

    init() throws {
        pki = try PolicyFixture()
        let serial = Array(try X509Certificate(der: pki.leaf.der).serialNumber)
        let list = try CertificateRevocationList(der: pki.issuing.revocationList { $0.serialNumbers = [serial] })
        base = PathValidator(anchors: try TrustAnchors(der: [pki.root.root]), revocation: .crls([list]))
    }

    private func code(_ policy: any TrustPolicy, _ validator: any ChainValidator) throws -> TrustFailure.Code? {
        let trust = ServerTrust(
            chain: PresentedChain(pki.leaf.chain), purpose: .server(identity: try DialedHost(PolicyFixture.host)),
            validator: validator)
        return policy.evaluate(trust, at: pki.now).failure?.code
    }

    private func pinOnly() throws -> [PinnedPolicy] {
        try [pki.leaf, pki.issuing.certificate].map { try pki.pinned([pki.keyPin($0)], pinOnly: true) }
    }

    @Test("A validator that does not say what it checks lets no pin decide alone, whatever it wraps")
    func silent() throws {
        for policy in try pinOnly() {
            #expect(try code(policy, base) == .revoked)
            #expect(try code(policy, Silent(base: base)) == .invalidConfiguration)
        }
    }

    @Test("A validator that passes on the one it wraps loses none of its revocation lists")
    func forwarding() throws {
        for policy in try pinOnly() {
            #expect(try code(policy, Forwarding(base: base, pathValidator: base)) == .revoked)
            let plain = PathValidator(anchors: base.anchors)
            #expect(try code(policy, Forwarding(base: base, pathValidator: plain)) == nil)
        }
    }

    @Test("Where a path is asked for, a validator need not say anything")
    func standard() throws {
        let unrevoked = PathValidator(anchors: base.anchors)
        let policy = try pki.pinned([pki.keyPin(pki.leaf)])
        #expect(try code(policy, Silent(base: base)) == .revoked)
        #expect(try code(policy, Silent(base: unrevoked)) == nil)
    }
}
