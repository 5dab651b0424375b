import Foundation
import Holdfast
import HoldfastTesting

/// Lists, and what they say of a chain, at the judges' time.
struct RevocationScene {
    let root: TestAuthority
    var lists: [[UInt8]] = []
    var certificates: [TestAuthority] = []
    var presented: [TestAuthority] = []
    var limits = ValidationLimits()

    init(_ root: TestAuthority) { self.root = root }

    static func serial(_ certificate: TestCertificate) throws -> [UInt8] {
        Array(try X509Certificate(der: certificate.der).serialNumber)
    }

    func outcome(
        _ leaf: TestCertificate, unknownLeaf: Revocation.UnknownStatus = .fails,
        unknownIssuer: Revocation.UnknownStatus = .fails
    ) throws -> ValidationOutcome {
        let purpose = ValidationPurpose.server(identity: try DialedHost(Judge.host))
        let chain = PresentedChain(leaf.chain + presented.map(\.certificate.der))
        return try validator(unknownLeaf, unknownIssuer).validate(chain, for: purpose, at: Judge.now) { _ in true }
    }

    func code(
        _ leaf: TestCertificate, unknownLeaf: Revocation.UnknownStatus = .fails,
        unknownIssuer: Revocation.UnknownStatus = .fails
    ) throws -> TrustFailure.Code? {
        let outcome = try outcome(leaf, unknownLeaf: unknownLeaf, unknownIssuer: unknownIssuer)
        return outcome.path == nil ? outcome.failure?.code ?? .rejectedBySystem : nil
    }

    func rules(_ leaf: TestCertificate) throws -> [RuleOutcome] {
        try validator(.fails, .fails).outcomes(
            of: PresentedChain(leaf.chain + presented.map(\.certificate.der)), for: .server(identity: nil),
            at: Judge.now)
    }

    func validator(
        _ leaf: Revocation.UnknownStatus, _ issuer: Revocation.UnknownStatus
    ) throws -> PathValidator {
        PathValidator(
            anchors: try TrustAnchors(der: [root.root]), limits: limits,
            revocation: .crls(
                try lists.map { try CertificateRevocationList(der: $0) },
                certificates: try certificates.map { try X509Certificate(der: $0.certificate.der) },
                unknownLeaf: leaf, unknownIssuer: issuer))
    }
}
