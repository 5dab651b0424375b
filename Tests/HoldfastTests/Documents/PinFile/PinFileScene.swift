import Foundation
import HoldfastTesting

@testable import Holdfast

/// A server with a chain of three, and policies that a pin file makes for it.
struct PinFileScene {
    static let host = "api.example.com"

    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
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
    var leafPin: Pin { get throws { try .publicKey(of: leaf.der) } }
    var issuingPin: Pin { get throws { try .publicKey(of: issuing.der) } }
    var rootPin: Pin { get throws { try .publicKey(of: root.der) } }

    func trust(
        _ chain: [[UInt8]]? = nil, host: String = PinFileScene.host, port: Int? = nil, anchors: [[UInt8]]? = nil
    ) throws -> ServerTrust {
        ServerTrust(
            certificates: chain ?? leaf.chain, host: try DialedHost(host, port: port),
            anchors: try TrustAnchors(der: anchors ?? [root.root]))
    }

    func pin(
        _ pin: Pin, _ role: PinFile.KeyPin.Role = .leaf, _ state: PinFile.KeyPin.State = .active,
        until end: Date? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(pin, role: role, state: state, notAfter: end)
    }

    func file(
        _ pins: [PinFile.KeyPin], enforcement: PinSet.Enforcement = .enforce, require: PinSet.Requirement = .any,
        afterExpiry: PinSet.ExpiryAction = .reject, ports: [Int] = [], notAfter: Date? = nil, grace: Int = 0,
        debugAnchors: [X509Certificate] = []
    ) throws -> PinFile {
        try PinFile(
            notAfter: notAfter, refresh: PinFile.Refresh(after: 1, grace: grace),
            hosts: [
                PinFile.Host(
                    HostPattern(Self.host), ports: ports, enforcement: enforcement, requirement: require,
                    afterExpiry: afterExpiry,
                    pins: pins)
            ], debugAnchors: debugAnchors)
    }

    func manager(_ file: PinFile, overrides: PinFile.Overrides = .none) -> TrustManager {
        PolicyLog.$shared.withValue(log.policyLog) { TrustManager(file, overrides: overrides, clock: clock) }
    }

    func decision(_ file: PinFile, _ trust: ServerTrust? = nil, at time: Date? = nil) throws -> TrustDecision {
        manager(file).evaluate(try trust ?? self.trust(), at: time ?? now)
    }
}
