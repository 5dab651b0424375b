import Foundation

/// Certificates in reports: Base64 of DER while they are pending, PEM when they are sent.
enum ChainText {
    /// Maximum numbers of certificates and bytes of DER in a report. A longer chain is cut after its first part.
    static let mostCertificates = 10
    static let mostOctets = 16 << 10

    /// The Base64 of each certificate.
    static func of(_ certificates: [[UInt8]]) -> [String] {
        var octets = 0
        var texts: [String] = []
        for der in certificates.prefix(mostCertificates) {
            octets += der.count
            guard octets <= mostOctets else { break }
            texts.append(Data(der).base64EncodedString())
        }
        return texts
    }

    /// A certificate in PEM (RFC 7468), lines of 64 characters.
    /// - Parameter separator: between the lines of Base64.
    static func pem(_ base64: String, separator: String) -> String {
        let octets = Array(base64.utf8)
        let lines = stride(from: 0, to: octets.count, by: 64).map { start in
            String(decoding: octets[start..<min(start + 64, octets.count)], as: UTF8.self)
        }
        return "-----BEGIN CERTIFICATE-----\n" + lines.joined(separator: separator) + "\n-----END CERTIFICATE-----"
    }
}
