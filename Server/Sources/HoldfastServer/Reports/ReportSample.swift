import Holdfast

/// A report that is kept with its chain, so that people can look at what a server showed. It has what RFC 7469 section 3
/// has, under the same names, and nothing that tells one client from another.
struct ReportSample: Sendable, Hashable {
    let app: AppName
    let audience: ReportAudience
    /// The label of the host.
    let host: String
    let code: ClientReport.Code
    /// The SHA-256 of the certificate that the server showed as its own.
    let certificate: Digest
    /// When it came, in seconds since 1970.
    let received: Int64
    /// The report as it is kept: canonical JSON.
    let bytes: [UInt8]

    /// What tells it from the others of a day.
    struct Subject: Sendable, Hashable {
        let app: AppName
        let audience: ReportAudience
        let host: String
        let code: ClientReport.Code
        let certificate: Digest
        /// Since 1970.
        let day: Int64
    }

    /// What tells it from the others of its day.
    var subject: Subject {
        Subject(
            app: app, audience: audience, host: host, code: code, certificate: certificate, day: received / 86_400)
    }

    /// A chain and its pins that are longer are left out.
    static let maximumSize = 32 << 10

    /// Takes what a report says; nil if it has no chain, or a very long one.
    init?(_ report: ClientReport, of app: AppName, _ audience: ReportAudience, on host: String, at time: Int64) {
        guard let chain = report.chain, let text = UTCText.encode(time) else { return nil }
        var members: [String: CanonicalJSON] = [
            "code": .text(report.code.rawValue), "date-time": .text(text), "hostname": .text(report.host),
            "app-platform": .text(report.platform.rawValue), "app-version": .text(report.appVersion),
            "document-version": .text(report.documentVersion),
            "pins": .array(report.pins.map(Self.json)), "known-pins": .array(report.pins.map { .text($0.text) }),
            "served-certificate-chain": .array(chain.certificates.map { .text(PEMText.block("CERTIFICATE", of: $0)) }),
        ]
        if let port = report.port { members["port"] = .integer(port) }
        if let noted = report.notedHost { members["noted-hostname"] = .text(noted) }
        bytes = CanonicalJSON.object(members).bytes
        guard bytes.count <= Self.maximumSize else { return nil }
        (self.app, self.audience, self.host) = (app, audience, host)
        (code, certificate, received) = (report.code, chain.fingerprint, time)
    }

    private static func json(_ pin: ClientReport.Pin) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = ["pin": .text(pin.text)]
        if let role = pin.role { members["role"] = .text(role) }
        if let state = pin.state { members["state"] = .text(state) }
        return .object(members)
    }

    /// Reads a row.
    init(
        app: AppName, audience: ReportAudience, host: String, code: ClientReport.Code, certificate: Digest,
        received: Int64, bytes: [UInt8]
    ) {
        (self.app, self.audience, self.host, self.code) = (app, audience, host, code)
        (self.certificate, self.received, self.bytes) = (certificate, received, bytes)
    }
}

extension ReportSample {
    /// The SHA-256 of the key of the certificate; nil if the sample was damaged.
    var key: Digest? {
        guard let report = try? ReportReader.read(bytes).first, let leaf = report.chain?.leaf else { return nil }
        return Digest(of: leaf.subjectPublicKeyInfo)
    }
}
