import Foundation
import HoldfastTesting

@testable import Holdfast

/// An authority and three logs of two operators, at the judges' time.
struct TransparencyScene {
    let root: TestAuthority
    let logs: [TestTransparencyLog]
    /// The entries of the list; logs 0 and 1 are of one operator.
    var entries: [(operatorName: String, entry: TestLogList.Entry)]
    var issuedAt = Judge.now.addingTimeInterval(-86_400)
    var exempt: [[UInt8]] = []
    var requiresUntiledLog = false
    var limits = ValidationLimits()
    var cache: VerifiedPathCache?

    init() throws {
        root = try Judge.root()
        logs = try (0..<3).map { try TestTransparencyLog(name: "Log \($0)") }
        entries = [("One", .init(logs[0])), ("One", .init(logs[1])), ("Two", .init(logs[2]))]
    }

    /// A leaf with a timestamp of each of these logs, an hour old.
    func leaf(
        of logs: [Int], days: Double = 90, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        try leaf(logs.map { TestTimestamp(of: self.logs[$0]) }, days: days, configure: configure)
    }

    func leaf(
        _ timestamps: [TestTimestamp], days: Double = 90,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        try root.leaf(names: [.dns(Judge.host)]) {
            $0.timestamps = timestamps
            $0.notAfter = .days(days)
            configure(&$0)
        }
    }

    var list: TransparencyLogList {
        get throws {
            var list = try TestLogList(issuedAt: issuedAt)
            for one in entries { list.operators[one.operatorName, default: []].append(one.entry) }
            return try TransparencyLogList(json: list.json)
        }
    }

    var transparency: Transparency {
        get throws {
            .required(
                try list, exempting: try TrustAnchors(der: exempt), requiresUntiledLog: requiresUntiledLog)
        }
    }

    var validator: PathValidator {
        get throws {
            PathValidator(
                anchors: try TrustAnchors(der: [root.root]), limits: limits, transparency: try transparency,
                cache: cache)
        }
    }

    func outcome(
        _ leaf: TestCertificate, for purpose: ValidationPurpose? = nil, at time: Date = Judge.now
    ) throws -> ValidationOutcome {
        let purpose = try purpose ?? .server(identity: try DialedHost(Judge.host))
        return try validator.validate(PresentedChain(leaf.chain), for: purpose, at: time) { _ in true }
    }

    /// nil where the leaf is accepted.
    func code(_ leaf: TestCertificate) throws -> TrustFailure.Code? {
        let outcome = try outcome(leaf)
        return outcome.path == nil ? outcome.failure?.code ?? .rejectedBySystem : nil
    }

    /// Why each timestamp does not count; nil for one that does.
    func objections(_ leaf: TestCertificate) throws -> [String?] {
        try outcome(leaf).failure?.timestamps.map(\.objection) ?? []
    }
}
