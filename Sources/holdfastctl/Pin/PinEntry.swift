import Foundation
import Holdfast
import HoldfastOutput

/// One certificate or key whose pins are printed. Its fields are those of the JSON objects.
struct PinEntry: Encodable {
    /// What the pin was made from.
    enum Kind: String, Encodable {
        case certificate, privateKey, publicKey, certificateRequest
    }

    /// Where it was found: `leaf`, `issuer 1`, `anchor, not sent`, or a file.
    let place: String
    let kind: Kind
    /// The subject of a certificate or request.
    let subject: String?
    /// The kind of the key, for example `P-256`.
    let key: String
    let keyPin: String
    /// Absent for anything other than a certificate.
    let certificatePin: String?
    /// ISO 8601.
    let notAfter: String?
    /// Whether it is part of a valid path; absent for files.
    var inValidPath: Bool?
    /// The key itself, in DER.
    let subjectPublicKeyInfo: [UInt8]
    /// Whether it is the certificate of an authority, whose key signs those of servers.
    let isIssuer: Bool
    /// What an operator should know about it, for example that a signature was not checked.
    var remark: String?

    private enum CodingKeys: CodingKey {
        case place, kind, subject, key, keyPin, certificatePin, notAfter, inValidPath, isIssuer, remark
    }

    init(_ certificate: X509Certificate, place: String, isIssuer: Bool, inValidPath: Bool? = nil) {
        self.place = place
        kind = .certificate
        subject = certificate.subject.description
        key = certificate.keyKind?.description ?? Self.unreadableKey
        keyPin = certificate.publicKeyPin.description
        subjectPublicKeyInfo = Array(certificate.subjectPublicKeyInfo)
        certificatePin = certificate.certificatePin.description
        notAfter = certificate.notAfter.formatted(.iso8601)
        self.inValidPath = inValidPath
        self.isIssuer = isIssuer
        remark = inValidPath == false ? "NOT in a valid path" : nil
    }

    init(key: SubjectPublicKeyInfo, kind: Kind, subject: String? = nil, place: String) {
        self.place = place
        self.kind = kind
        self.subject = subject
        self.key = key.keyKind?.description ?? Self.unreadableKey
        keyPin = key.sha256Pin.description
        subjectPublicKeyInfo = Array(key.der)
        certificatePin = nil
        notAfter = nil
        isIssuer = false
    }

    private static let unreadableKey = "a key of an unknown kind"

    /// Whether it is a key that is in no certificate yet, which makes a backup pin.
    var isBackup: Bool { kind != .certificate }

    /// One line that describes it.
    var title: String {
        let what: String? =
            switch kind {
            case .certificate: nil
            case .privateKey: "private key"
            case .publicKey: "public key"
            case .certificateRequest: "certificate request"
            }
        let end = notAfter.map { "until \($0.prefix(10))" }
        let facts = [place, what, subject, key, end, remark].compactMap(\.self)
        return SafeText.escapedLine(facts.joined(separator: ", "))
    }
}
