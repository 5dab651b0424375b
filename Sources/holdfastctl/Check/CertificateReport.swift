import Foundation
import Holdfast
import HoldfastOutput

/// A report on one certificate, for people and for JSON.
///
/// The names of the fields are those of the JSON objects that `check` and `pin` print.
struct CertificateReport: Encodable {
    /// The position in the chain as presented; the leaf has 0. Absent for an anchor that was not sent.
    var position: Int?
    /// Whether it is part of the valid path; absent if nothing was validated.
    var inValidPath: Bool?
    var subject: String?
    var issuer: String?
    /// Hexadecimal, as openssl prints it.
    var serial: String?
    /// ISO 8601, UTC.
    var notBefore: String?
    var notAfter: String?
    /// Whole days until `notAfter`; negative after it.
    var daysLeft: Int?
    /// The kind of the public key.
    var key: String?
    /// The signature algorithm.
    var signature: String?
    /// The entries of subjectAltName.
    var names: [String]?
    /// The pin of the key, `sha256/BASE64`.
    var keyPin: String?
    /// The pin of the certificate, `cert-sha256/HEX`.
    var certificatePin: String
    /// Whether its validity has not begun yet.
    var isNotYetValid: Bool?
    /// Why it cannot be read. In that case all other fields except the pin are absent.
    var unreadable: String?

    init(der: [UInt8], position: Int?, inValidPath: ((X509Certificate) -> Bool)? = nil, now: Date) {
        self.position = position
        certificatePin = Pin.certificate(der).description
        do throws(CertificateError) {
            let certificate = try X509Certificate(der: der)
            self.inValidPath = inValidPath?(certificate)
            subject = certificate.subject.description
            issuer = certificate.issuer.description
            serial = certificate.serialNumber.map { String(format: "%02X", $0) }.joined(separator: ":")
            isNotYetValid = certificate.notBefore > now
            notBefore = certificate.notBefore.formatted(.iso8601)
            notAfter = certificate.notAfter.formatted(.iso8601)
            daysLeft = DaysLeft.days(until: certificate.notAfter, from: now)
            key = certificate.keyKind?.description ?? "unreadable key"
            signature = certificate.signatureAlgorithm.description
            names = certificate.subjectAlternativeNames.map(\.description)
            keyPin = certificate.publicKeyPin.description
        } catch {
            unreadable = "\(error.field): \(error.found)"
        }
    }

    /// How many names are printed for people; the rest are only counted.
    private static let shownNames = 12

    func print(to output: Output) {
        let place = position.map { "\($0)" } ?? "-"
        var remark = ""
        if position == nil {
            remark = "  (anchor, not sent)"
        } else if inValidPath == false {
            remark = "  (not in the valid path)"
        }
        output.line(
            .init("  \(place.padded(to: 3))"), .init(subject ?? "unreadable", .heading), .init(remark, .faint))
        func field(_ name: String, _ value: String, _ style: Output.Style = .plain) {
            output.line(.init("     \(name.padded(to: 11))", .faint), .init(value, style))
        }
        if let unreadable { field("error", unreadable, .bad) }
        if let issuer { field("issuer", issuer) }
        if let notBefore, let notAfter, let daysLeft {
            let state = isNotYetValid == true ? "NOT YET VALID" : DaysLeft.text(daysLeft)
            let isBad = daysLeft < 0 || isNotYetValid == true
            field("valid", "\(notBefore) to \(notAfter), \(state)", isBad ? .bad : .plain)
        }
        if let serial { field("serial", serial) }
        if let key { field("key", key) }
        if let signature { field("signature", signature) }
        if let names, !names.isEmpty {
            let shown = names.prefix(Self.shownNames).joined(separator: ", ")
            let rest = names.count - Self.shownNames
            field("names", rest > 0 ? "\(shown) and \(rest) more" : shown)
        }
        if let keyPin { field("key pin", keyPin) }
        field("cert pin", certificatePin)
    }
}
