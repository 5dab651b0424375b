package import Foundation
package import Holdfast

/// The content of a certificate, for people and for JSON. Its fields are those of the JSON object.
package struct CertificateReport: Sendable, Encodable {
    /// The position in the chain as presented; the leaf has 0. Absent for an anchor that was not sent.
    package var position: Int?
    /// Whether it is part of the valid path; absent if nothing was validated.
    package var inValidPath: Bool?
    package var subject: String?
    package var issuer: String?
    /// Hexadecimal, as openssl prints it.
    package var serial: String?
    /// ISO 8601, UTC.
    package var notBefore: String?
    package var notAfter: String?
    /// Whole days until `notAfter`; negative after it.
    package var daysLeft: Int?
    /// The kind of the public key.
    package var key: String?
    /// The signature algorithm.
    package var signature: String?
    /// The entries of subjectAltName.
    package var names: [String]?
    /// The pin of the key, `sha256/BASE64`.
    package var keyPin: String?
    /// The pin of the certificate, `cert-sha256/HEX`; absent for a Merkle Tree Certificate, which has several forms.
    package var certificatePin: String?
    /// Whether its validity has not begun yet.
    package var isNotYetValid: Bool?
    /// Why it cannot be read. In that case all other fields except the pin are absent.
    package var unreadable: String?

    package init(der: [UInt8], position: Int?, inValidPath: ((X509Certificate) -> Bool)? = nil, now: Date) {
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
            if certificate.isMerkleTreeCertificate { certificatePin = nil }
        } catch {
            unreadable = "\(error.field): \(error.found)"
        }
    }
}
