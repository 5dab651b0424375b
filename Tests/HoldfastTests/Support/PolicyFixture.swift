import Foundation
import Holdfast
import HoldfastTesting

/// A root, an issuing authority and a server, all by one clock that stands still.
struct PolicyFixture {
    static let host = "www.example.com"

    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
    /// The log of `pinned` policies.
    let log = RecordingLog()
    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate

    init() throws {
        root = try TestAuthority.root(clock: clock)
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: [.dns(Self.host)])
    }

    var now: Date { clock.now }

    /// The trust of a server for `host`, for a client that trusts the root unless stated otherwise.
    func trust(
        _ chain: [[UInt8]]? = nil, host: String? = PolicyFixture.host, anchors: [[UInt8]]? = nil
    ) throws -> ServerTrust {
        ServerTrust(
            certificates: chain ?? leaf.chain, host: try host.map { try DialedHost($0) },
            anchors: try TrustAnchors(der: anchors ?? [root.root]))
    }

    /// The same server, for a client that trusts only another root.
    func untrusted() throws -> ServerTrust {
        try trust(anchors: [TestAuthority.root(name: "Somebody Else", clock: clock).root])
    }

    func keyPin(_ certificate: TestCertificate) throws -> Pin { try Pin.publicKey(of: certificate.der) }

    func pinned(
        _ pins: [Pin], host: String = PolicyFixture.host, validatesHostName: Bool = true, pinOnly: Bool = false,
        enforcement: PinSet.Enforcement = .enforce, expires: Date? = nil, afterExpiry: PinSet.ExpiryAction = .reject
    ) throws -> PinnedPolicy {
        try PolicyLog.$shared.withValue(log.policyLog) {
            try PinnedPolicy(
                host: HostPattern(host),
                pins: PinSet(pins: pins, until: expires, afterExpiry: afterExpiry, enforcement: enforcement),
                validatesHostName: validatesHostName, certificatePinOnly: pinOnly)
        }
    }
}

extension TestAuthority {
    var der: [UInt8] { certificate.der }
}
