import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting

/// An authority of two generations that is built like Let's Encrypt: two roots, of which the second is certified by the
/// first as well, intermediates that both roots certify, and a newer generation with one certificate more.
struct AuthorityScene {
    static let host = "api.example.com"
    static let start = Date(timeIntervalSince1970: 1_900_000_000)

    let clock = ManualClock(now: Self.start)
    let x1: TestAuthority
    let x2: TestAuthority
    /// The second root as the first certifies it.
    let x2ByX1: TestAuthority
    /// Intermediates below the second root, and the same keys as the first root certifies them.
    let e7: TestAuthority
    let e8: TestAuthority
    let e7ByX1: TestAuthority
    let r12: TestAuthority
    /// The roots of the next generation, and the same keys as those of the old generation certify them.
    let ye: TestAuthority
    let yeByX2: TestAuthority
    let yr: TestAuthority
    let yrByX1: TestAuthority
    let ye1: TestAuthority
    let yr1: TestAuthority

    init() throws {
        x1 = try TestAuthority.root(name: "Root X1", clock: clock)
        x2 = try TestAuthority.root(name: "Root X2", clock: clock)
        x2ByX1 = try x1.crossSign(x2)
        e7 = try x2.intermediate(name: "E7", pathLength: 0)
        e8 = try x2.intermediate(name: "E8", pathLength: 0)
        e7ByX1 = try x1.crossSign(e7)
        r12 = try x1.intermediate(name: "R12", pathLength: 0)
        ye = try TestAuthority.root(name: "Root YE", clock: clock)
        yeByX2 = try x2.crossSign(ye)
        yr = try TestAuthority.root(name: "Root YR", clock: clock)
        yrByX1 = try x1.crossSign(yr)
        ye1 = try ye.intermediate(name: "YE1", pathLength: 0)
        yr1 = try yr.intermediate(name: "YR1", pathLength: 0)
    }

    static func certificate(_ authority: TestAuthority) throws -> X509Certificate {
        try X509Certificate(der: authority.certificate.der)
    }

    static func hierarchy(_ authorities: [TestAuthority]) throws -> AuthorityHierarchy {
        try AuthorityHierarchy(authorities.map(certificate))
    }

    /// All that the authority has published.
    var everything: [TestAuthority] {
        [x1, x2, x2ByX1, e7, e8, e7ByX1, r12, ye, yeByX2, yr, yrByX1, ye1, yr1]
    }

    /// All that it had published before the next generation.
    var firstGeneration: [TestAuthority] { [x1, x2, x2ByX1, e7, e8, e7ByX1, r12] }

    static func platform(_ name: String, _ anchors: TestAuthority...) -> PublicationOutlook.Platform {
        .init(name, anchors: anchors.map { Data($0.certificate.der) })
    }

    /// The chain of a server whose certificate was issued by one of the authorities.
    func shown(
        by issuer: TestAuthority, presenting issuers: [TestAuthority]? = nil
    ) throws -> PublicationOutlook.Presentation {
        let leaf = try issuer.leaf(names: [.dns(Self.host)])
        let above = (issuers ?? [issuer]).map { Data($0.certificate.der) }
        return .init([Data(leaf.der)] + above, at: "192.0.2.1", seen: Self.start)
    }

    // MARK: Documents

    /// A pin file with the keys of these authorities as issuers, and of a server.
    func pinFile(
        _ issuers: [TestAuthority], leaf: TestCertificate? = nil, days: Double = 1_000
    ) throws -> PublicationOutlook.Document {
        var pins = try issuers.map { try PinFile.KeyPin(Pin.publicKey(of: $0.certificate.der), role: .issuer) }
        if let leaf { pins.append(try PinFile.KeyPin(Pin.publicKey(of: leaf.der))) }
        let file = try PinFile(
            issuedAt: Self.start, notAfter: Self.start.addingTimeInterval(days * 86_400), refresh: nil,
            hosts: [PinFile.Host(HostPattern(Self.host), pins: pins)])
        return .init(
            "pins", kind: .shippedPins, octets: Data(file.json), published: Self.start, appVersions: ["1.0"])
    }

    /// A list with the certificates of these authorities, each at a depth.
    func list(_ entries: [(authority: TestAuthority, depth: Int)]) throws -> PublicationOutlook.Document {
        let key = SigningKey()
        let draft = PinListDraft(
            try entries.map { entry in
                try FingerprintEntry(
                    name: Self.host, pin: Pin.certificate(entry.authority.certificate.der),
                    expires: Int64(Self.start.timeIntervalSince1970) + 900 * 86_400, depth: entry.depth)
            })
        return .init(
            "list", kind: .staticList(publicKey: try key.publicKey.base64), octets: try draft.signed(by: key),
            published: Self.start)
    }

    func coverage(
        _ document: PublicationOutlook.Document, of authorities: [TestAuthority]?,
        showing shown: [PublicationOutlook.Presentation], on platforms: [PublicationOutlook.Platform],
        span: TimeInterval = 45 * 86_400
    ) throws -> IssuerPinCoverage {
        try IssuerPinCoverage(
            judging: .init(
                documents: [document], hosts: [.init(Self.host, port: 443, shown: shown)], platforms: platforms,
                appVersions: document.appVersions.isEmpty ? .noShippedPins : .versions([.init("1.0")]),
                span: .seconds(span), now: Self.start),
            issuedBy: try authorities.map(Self.hierarchy))
    }
}
