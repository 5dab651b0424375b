import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting

/// A server's certificate with its authorities, and what checks say of chains that a server might present.
struct CheckScene {
    static let name = "api.example.com"

    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate
    let now = SystemWallClock().now

    init(configure: (inout CertificateSpecification) -> Void = { _ in }) throws {
        root = try TestAuthority.root()
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: [.dns(Self.name)], configure: configure)
    }

    init(root: TestAuthority, issuing: TestAuthority, leaf: TestCertificate) {
        (self.root, self.issuing, self.leaf) = (root, issuing, leaf)
    }

    /// The pins of the keys from the leaf to the root.
    func keyPins() throws -> [Pin] { try (leaf.chain + [root.certificate.der]).map { try Pin.publicKey(of: $0) } }

    var anchors: TrustAnchors { get throws { try TrustAnchors(der: [root.root]) } }

    func checking(
        lookup: RevocationLookup? = nil, policies: [String] = [], logs: Data? = nil, watch: ExpiryWatch? = nil
    ) throws -> ChainChecking {
        try ChainChecking(
            trusting: anchors, lookup: lookup, policies: policies, logs: logs.map { ("log_list.json", $0) },
            watch: watch)
    }

    /// The report on a chain, by default the scene's own.
    func report(
        _ checking: ChainChecking? = nil, of chain: [[UInt8]]? = nil, host: String = name, pins: [Pin] = []
    ) async throws -> CheckReport {
        let host = try DialedHost(host, port: 443)
        return await (try checking ?? self.checking()).report(
            on: try (chain ?? leaf.chain).map { try X509Certificate(der: $0) }, of: host,
            by: try PinRequirement(pins).policy(of: host), at: now)
    }
}

extension CheckReport {
    /// The names of the rules that are broken, in their order.
    var broken: [String] { (rules ?? []).filter { !$0.kept }.map(\.rule) }
}
