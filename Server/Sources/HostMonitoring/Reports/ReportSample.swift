import Holdfast
package import ServerFoundation
import ServerModel

/// A report that is stored with its chain, so that people can inspect what a server presented. It has the fields of RFC
/// 7469 section 3, and no data that identifies the client.
package struct ReportSample: Sendable, Hashable {
    package let app: AppName
    package let audience: ReportAudience
    /// The label of the host.
    package let host: String
    package let code: ClientReport.Code
    /// The SHA-256 of the leaf certificate that the server presented.
    package let certificate: Digest
    /// The time at which it arrived, in seconds since 1970.
    package let received: Int64
    /// The stored report: canonical JSON.
    package let bytes: [UInt8]

    /// The properties that distinguish a sample from others of the same day.
    package struct Subject: Sendable, Hashable {
        package let app: AppName
        package let audience: ReportAudience
        package let host: String
        package let code: ClientReport.Code
        package let certificate: Digest
        /// The day since 1970.
        package let day: Int64
    }

    /// The properties that distinguish this sample from others of its day.
    package var subject: Subject {
        Subject(
            app: app, audience: audience, host: host, code: code, certificate: certificate, day: received / 86_400)
    }

    /// Maximum size in bytes; a report with a longer chain and pins is not stored.
    package static let maximumSize = 32 << 10

    /// Creates a sample of a report; nil if the report has no chain, or a very long one.
    package init?(_ report: ClientReport, of app: AppName, _ audience: ReportAudience, on host: String, at time: Int64)
    {
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
    package init(
        app: AppName, audience: ReportAudience, host: String, code: ClientReport.Code, certificate: Digest,
        received: Int64, bytes: [UInt8]
    ) {
        (self.app, self.audience, self.host, self.code) = (app, audience, host, code)
        (self.certificate, self.received, self.bytes) = (certificate, received, bytes)
    }
}

extension ReportSample {
    /// The SHA-256 of the certificate's public key; nil if the sample is damaged.
    package var key: Digest? {
        guard let report = try? ReportReader.read(bytes).first, let leaf = report.chain?.leaf else { return nil }
        return Digest(of: leaf.subjectPublicKeyInfo)
    }
}
