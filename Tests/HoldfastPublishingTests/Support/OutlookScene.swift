import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting

/// An authority, a server with its next certificate, and documents about both.
struct OutlookScene {
    static let host = "api.example.com"
    static let start = Date(timeIntervalSince1970: 1_900_000_000)
    static let (hour, day): (TimeInterval, TimeInterval) = (3_600, 86_400)

    let clock = ManualClock(now: Self.start)
    let authority: TestAuthority
    let issuing: TestAuthority
    /// The certificate that the server serves, and one with another key.
    let served: TestCertificate
    let next: TestCertificate
    let listKey = SigningKey()
    let trustServer: TestTrustServer

    init(days: Double = 1_000) throws {
        authority = try TestAuthority.root(clock: clock)
        issuing = try authority.intermediate()
        served = try issuing.leaf(names: [.dns(Self.host)]) { $0.notAfter = .days(days) }
        next = try issuing.leaf(names: [.dns(Self.host)]) { $0.notAfter = .days(1_000) }
        trustServer = try TestTrustServer(clock: clock)
    }

    static func after(days: Double) -> Date { start.addingTimeInterval(days * day) }

    // MARK: Inputs

    func shown(_ certificate: TestCertificate, at place: String = "192.0.2.1", until ends: Date? = nil)
        -> PublicationOutlook.Presentation
    {
        .init(certificate.chain.map { Data($0) }, at: place, seen: Self.start, until: ends)
    }

    func host(_ shown: PublicationOutlook.Presentation...) -> PublicationOutlook.Host {
        .init(Self.host, port: 443, shown: shown)
    }

    var platform: PublicationOutlook.Platform { .init("company root", anchors: [Data(authority.root)]) }

    func outlook(
        _ documents: [PublicationOutlook.Document], _ hosts: [PublicationOutlook.Host]? = nil,
        platforms: [PublicationOutlook.Platform]? = nil, versions: PublicationOutlook.AppVersions = .noShippedPins,
        staleness: TimeInterval = 30 * day, span: TimeInterval = 45 * day, now: Date = start
    ) throws(PublishingError) -> PublicationOutlook {
        var hosts = hosts ?? [host(shown(served))]
        for (index, host) in hosts.enumerated() {
            for (position, shown) in host.shown.enumerated() where shown.seen == Self.start {
                hosts[index].shown[position].seen = now
            }
        }
        return try PublicationOutlook(
            judging: .init(
                documents: documents, hosts: hosts, platforms: platforms ?? [platform], appVersions: versions,
                staleness: .seconds(staleness), span: .seconds(span), now: now))
    }

    // MARK: Documents

    func pinFile(_ pinned: TestCertificate..., days: Double = 1_000, grace: Int = 0) throws -> PinFile {
        try PinFile(
            issuedAt: Self.start, notAfter: Self.after(days: days),
            refresh: PinFile.Refresh(after: 21_600, grace: grace),
            hosts: [
                PinFile.Host(
                    HostPattern(Self.host),
                    pins: pinned.map { try PinFile.KeyPin(Pin.publicKey(of: $0.der)) })
            ])
    }

    func shipped(_ file: PinFile, in versions: String...) -> PublicationOutlook.Document {
        .init(
            "pins \(versions.joined(separator: " "))", kind: .shippedPins, octets: Data(file.json),
            published: Self.start, appVersions: versions)
    }

    func entries(_ certificates: [TestCertificate], until end: Date) throws -> [FingerprintEntry] {
        try certificates.map { try FingerprintEntry(name: Self.host, pin: Pin.certificate($0.der), until: end) }
    }

    func list(
        _ certificates: TestCertificate..., until end: Date = after(days: 900), published: Date = start,
        replaced: Date? = nil, named name: String = "list.json"
    ) throws -> PublicationOutlook.Document {
        .init(
            name, kind: .staticList(publicKey: try listKey.publicKey.base64),
            octets: try PinListDraft(try entries(certificates, until: end)).signed(by: listKey),
            published: published, replaced: replaced)
    }

    func trustDocument(
        _ certificates: TestCertificate..., at time: Date = start, replaced: Date? = nil
    ) throws -> PublicationOutlook.Document {
        .init(
            "trust server", kind: .trustServer(signer: trustServer.certificate, customer: "gcx"),
            octets: try trustServer.document(at: time, [.init(Self.host, certificates)]), published: time,
            replaced: replaced)
    }
}
