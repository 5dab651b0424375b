import Holdfast
import HoldfastTUF
import HoldfastTesting
import NIOSSL

/// The policy with which a step of the demo evaluates its server.
enum DemoPolicy {
    case standard, keyPin, certificatePin
    /// Standard validation, with the authorities' revocation lists.
    case revocation
    /// Standard validation, which also requires timestamps of transparency logs.
    case transparency
    /// The pins of a store. They change during the demo.
    case store
    /// The keys in a trust server's document.
    case online
    /// The pins of a repository.
    case repository

    var name: String {
        switch self {
        case .standard: "standard"
        case .revocation: "revocation"
        case .transparency: "timestamps"
        case .keyPin: "key pin"
        case .certificatePin: "cert pin"
        case .store: "store"
        case .online: "online key"
        case .repository: "repository"
        }
    }
}

/// One connection of the demo: the server, the policy, and the expected result.
struct DemoStep {
    enum Expectation: Equatable {
        case accepted
        case refused(TrustFailure.Code)

        var text: String {
            switch self {
            case .accepted: "accepted"
            case .refused(let code): "refused, \(code.rawValue)"
            }
        }
    }

    /// The display text for the server.
    let server: String
    let policy: DemoPolicy
    let version: TLSVersion
    /// The presented chain, in DER, the leaf first; and the key of the leaf.
    let chain: [[UInt8]]
    let key: TestKey
    let expected: Expectation
}

/// The authority, the certificates and the pins of the demo, all made when it starts.
struct DemoStage {
    let host: DialedHost
    let clock = SystemWallClock()
    let anchors: TrustAnchors
    let steps: [DemoStep]
    let issuing: TestAuthority
    /// The trusted server's certificate, and its successor.
    let original: TestCertificate
    let renewed: TestCertificate
    /// The authorities' revocation lists. The issuing authority has a new key, and signs its list with that.
    let lists: Revocation
    /// The accepted transparency logs, of two operators.
    let logs: TransparencyLogList

    init() throws {
        let name = "api.example.com"
        host = try DialedHost(name)
        let root = try TestAuthority.root(name: "Demo Root")
        issuing = try root.intermediate(name: "Demo Issuing CA")
        anchors = try TrustAnchors(der: [root.certificate.der])
        let server = try issuing.leaf(names: [.dns(name)])
        original = server
        let impostor = try issuing.impersonate(server)
        let expired = try issuing.leaf(names: [.dns(name)]) { certificate in
            certificate.notBefore = .days(-91)
            certificate.notAfter = .hours(-1)
        }
        renewed = try issuing.renew(server)
        let revoked = try issuing.leaf(names: [.dns(name)])
        let serial = Array(try X509Certificate(der: revoked.der).serialNumber)
        let rolledOver = try root.intermediate(name: "Demo Issuing CA")
        lists = .crls(
            try [rolledOver.revocationList { $0.serialNumbers = [serial] }, root.revocationList()].map {
                try CertificateRevocationList(der: $0)
            }, certificates: [try X509Certificate(der: rolledOver.certificate.der)], isRequired: true)
        let testLogs = [try TestTransparencyLog(name: "Demo Log 1"), try TestTransparencyLog(name: "Demo Log 2")]
        logs = TransparencyLogList(
            try testLogs.map {
                try TransparencyLog(
                    name: $0.name, key: $0.key.subjectPublicKeyInfoDER, operatorName: "Operator of \($0.name)",
                    state: .usable)
            }, issuedAt: clock.now)
        let logged = try issuing.leaf(names: [.dns(name)]) { $0.timestamps = testLogs.map { TestTimestamp(of: $0) } }
        let other = try issuing.leaf(names: ["www.example.net"])
        let selfSigned = try TestAuthority.selfSigned(names: [.dns(name)])
        let stranger = try TestAuthority.root(name: "Stranger's Root").intermediate(name: "Stranger's CA")
            .leaf(names: [.dns(name)])

        func step(
            _ what: String, _ policy: DemoPolicy, _ version: TLSVersion, _ certificate: TestCertificate,
            appending appended: [[UInt8]] = [], _ expected: DemoStep.Expectation
        ) -> DemoStep {
            DemoStep(
                server: what, policy: policy, version: version, chain: certificate.chain + appended,
                key: certificate.key, expected: expected)
        }
        steps = [
            step("the trusted server", .standard, .tlsv13, server, .accepted),
            step("the trusted server", .standard, .tlsv12, server, .accepted),
            step("the trusted server", .keyPin, .tlsv13, server, .accepted),
            step("machine in the middle, same authority", .standard, .tlsv13, impostor, .accepted),
            step("machine in the middle, same authority", .keyPin, .tlsv13, impostor, .refused(.pinMismatch)),
            step("machine in the middle, same authority", .keyPin, .tlsv12, impostor, .refused(.pinMismatch)),
            step("expired certificate", .standard, .tlsv13, expired, .refused(.expired)),
            step("the trusted server, list by a new key", .revocation, .tlsv13, server, .accepted),
            step("revoked certificate", .revocation, .tlsv13, revoked, .refused(.revoked)),
            step("certificate that two logs have seen", .transparency, .tlsv13, logged, .accepted),
            step("certificate without timestamps", .transparency, .tlsv13, server, .refused(.notTransparent)),
            step("certificate for another name", .standard, .tlsv12, other, .refused(.hostNameMismatch)),
            step("self-signed certificate", .standard, .tlsv13, selfSigned, .refused(.unknownIssuer)),
            step("renewed certificate, same key", .keyPin, .tlsv13, renewed, .accepted),
            step("renewed certificate, same key", .certificatePin, .tlsv13, renewed, .refused(.pinMismatch)),
            step(
                "pinned cert appended to the middle's", .keyPin, .tlsv13, impostor, appending: [server.der],
                .refused(.pinMismatch)),
            step(
                "pinned cert appended to a stranger's", .keyPin, .tlsv12, stranger, appending: [server.der],
                .refused(.unknownIssuer)),
        ]
    }

    /// Makes a policy. Its pins are those of the trusted server's own certificate, or the store's current ones.
    func policy(
        _ kind: DemoPolicy, store: CertStore? = nil, trustServer: TrustServerStore? = nil,
        repository: PinRepository? = nil
    ) throws -> any TrustPolicy {
        let pattern = HostPattern(host)
        switch kind {
        case .standard, .revocation, .transparency: return StandardPolicy(host: pattern)
        case .keyPin:
            return try PinnedPolicy(host: pattern, pins: PinSet(pins: [Pin.publicKey(of: original.der)]))
        case .certificatePin:
            return try PinnedPolicy(host: pattern, pins: PinSet(pins: [Pin.certificate(original.der)]))
        case .store:
            guard let store else { throw DemoFailure("there is no store") }
            return store.policy(for: pattern)
        case .online:
            guard let trustServer else { throw DemoFailure("there is no trust server") }
            return trustServer.policy(for: pattern)
        case .repository:
            guard let repository else { throw DemoFailure("there is no repository") }
            return repository.policy(for: pattern)
        }
    }
}
