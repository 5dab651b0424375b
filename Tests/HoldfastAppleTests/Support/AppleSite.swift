import Foundation
import Holdfast
import HoldfastTesting
import Security
import Testing

/// A server on loopback, the private authority above it, and a manager to pin it with.
///
/// The server goes by its address. No name has to be looked up then, and App Transport Security leaves the loopback
/// address alone, which an application without exceptions needs for an authority of its own.
struct AppleSite: Sendable {
    static let address = "127.0.0.1"

    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate
    let manager = TrustManager()

    /// - Parameter key: of every certificate.
    init(key: TestKey.Choice = .p256) throws {
        root = try TestAuthority.root(key: key)
        issuing = try root.intermediate(key: key)
        leaf = try issuing.leaf(names: [TestGeneralName(Self.address), "localhost"], key: key)
    }

    var host: DialedHost { get throws { try DialedHost(Self.address) } }
    var pattern: HostPattern { get throws { HostPattern(try host) } }
    var anchors: TrustAnchors { get throws { try TrustAnchors(der: [root.root]) } }

    /// A certificate of the same authority for the same names, with another key.
    func impostor() throws -> TestCertificate { try issuing.impersonate(leaf) }

    /// Pins the key of a certificate, by default of the server's own.
    func pin(_ certificate: TestCertificate? = nil) throws {
        let pin = try Pin.publicKey(of: (certificate ?? leaf).der)
        manager.add(policy: try PinnedPolicy(host: pattern, pins: PinSet(pins: [pin])))
    }

    /// The system's trust object for certificates that a server presented.
    func secTrust(_ chain: [[UInt8]]? = nil, host: String? = address) throws -> SecTrust {
        let certificates = try (chain ?? leaf.chain).map { der in
            try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
        }
        var trust: SecTrust?
        let status = unsafe SecTrustCreateWithCertificates(
            certificates as CFArray, SecPolicyCreateSSL(true, host as CFString?), &trust)
        #expect(status == errSecSuccess)
        return try #require(trust)
    }

    /// The root as Security.framework has it.
    func secAnchors() throws -> CFArray {
        [try #require(SecCertificateCreateWithData(nil, Data(root.root) as CFData))] as CFArray
    }
}
