import Holdfast
import HoldfastTesting

import struct Foundation.Date

/// A chain, the root that it leads to, and the host that its leaf names: the input of every verifier.
public struct ChainMaterial: Sendable {
    /// The name in tables.
    public let name: String
    /// The server's certificate with its key and the certificates above it.
    public let leaf: TestCertificate
    /// DER as presented, leaf first, without the root.
    public let presented: [[UInt8]]
    /// DER of the whole path, the root included.
    public let path: [[UInt8]]
    /// The anchor.
    public let root: [UInt8]
    /// The anchor in the form of Holdfast's validator.
    public let anchors: TrustAnchors
    /// The dialed host.
    public let host: DialedHost
    /// The time of validation.
    public let time: Date

    private init(_ name: String, _ leaf: TestCertificate) throws {
        self.name = name
        self.leaf = leaf
        presented = leaf.chain
        path = leaf.chain + [leaf.root]
        root = leaf.root
        anchors = try TrustAnchors(der: [leaf.root])
        host = try DialedHost("www.example.com")
        time = SystemWallClock().now
    }

    /// Root, issuing authority, leaf, with keys of these kinds from top to bottom.
    public init(
        _ name: String, keys: [TestKey.Choice], configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws {
        guard keys.count == 3 else { throw WorkloadError("three keys make a chain") }
        let root = try TestAuthority.root(name: "Benchmark Root", key: keys[0])
        let issuing = try root.intermediate(name: "Benchmark Issuing CA", key: keys[1], pathLength: 0)
        let leaf = try issuing.leaf(
            names: ["www.example.com", "example.com"], key: keys[2], configure: configure)
        try self.init(name, leaf)
    }

    /// P-256 throughout, two signatures in the path.
    public static func p256() throws -> ChainMaterial { try ChainMaterial("P-256", keys: [.p256, .p256, .p256]) }

    /// RSA 2048 throughout.
    public static func rsa2048() throws -> ChainMaterial {
        try ChainMaterial(
            "RSA 2048",
            keys: (0..<3).map { .sharedRSA(bits: 2_048, index: $0) })
    }

    /// Authorities with P-384, a leaf with P-256.
    public static func p384() throws -> ChainMaterial { try ChainMaterial("P-384", keys: [.p384, .p384, .p256]) }

    /// The time in the form of other verifiers.
    public var unixTime: Int64 { Int64(time.timeIntervalSince1970) }
}

/// Chains that are refused.
public struct RefusedMaterial: Sendable {
    /// The presented chain.
    public let presented: [[UInt8]]
    /// The dialed host.
    public let host: DialedHost
    /// The time of validation.
    public let time: Date
    /// The trusted anchors.
    public let anchors: TrustAnchors
    /// The reason why it must be refused.
    public let code: TrustFailure.Code

    /// A leaf for other hosts, with this many names.
    public static func wrongName(names: Int) throws -> RefusedMaterial {
        let root = try TestAuthority.root(name: "Benchmark Root")
        let issuing = try root.intermediate(name: "Benchmark Issuing CA")
        let leaf = try issuing.leaf(names: (0..<names).map { .dns("service-\($0).region.example.com") })
        return RefusedMaterial(
            presented: leaf.chain, host: try DialedHost("www.example.org"), time: SystemWallClock().now,
            anchors: try TrustAnchors(der: [leaf.root]), code: .hostNameMismatch)
    }

    /// A leaf that expired a day ago.
    public static func expired() throws -> RefusedMaterial {
        let root = try TestAuthority.root(name: "Benchmark Root")
        let issuing = try root.intermediate(name: "Benchmark Issuing CA")
        let leaf = try issuing.leaf(names: ["www.example.com"]) { specification in
            specification.notBefore = .days(-30)
            specification.notAfter = .days(-1)
        }
        return RefusedMaterial(
            presented: leaf.chain, host: try DialedHost("www.example.com"), time: SystemWallClock().now,
            anchors: try TrustAnchors(der: [leaf.root]), code: .expired)
    }

    /// 48 certificates, 12 authorities deep and 4 certificates wide at each, every one of which may have issued every
    /// one below: 4 to the power of 12 paths, none of which leads to the anchor.
    public static func hostile() throws -> RefusedMaterial {
        let (depth, width) = (12, 4)
        // All certificates of a level bear one name and one key, so that every signature verifies.
        var above = [try TestAuthority.root(name: "Hostile Root")]
        var presented: [[UInt8]] = []
        for level in 0..<depth {
            let key = TestKey.Choice.existing(try TestKey())
            guard let signer = above.first else { throw WorkloadError("nobody signs level \(level)") }
            above = try (0..<width).map { _ in
                try signer.intermediate(name: .commonName("Hostile CA \(level)"), key: key)
            }
            presented += above.map(\.certificate.der)
        }
        guard let signer = above.first else { throw WorkloadError("nobody signs the leaf") }
        let leaf = try signer.leaf(names: ["www.example.com"])
        presented.removeFirst()
        return RefusedMaterial(
            presented: [leaf.der] + presented, host: try DialedHost("www.example.com"), time: SystemWallClock().now,
            anchors: try TrustAnchors(der: [try TestAuthority.root(name: "Another Root").root]),
            code: .budgetExceeded)
    }
}
