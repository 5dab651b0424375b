package import Foundation
package import Holdfast

/// The certificates of a file, PEM or DER.
package struct ChainFile: Sendable {
    /// Maximum size of such a file in bytes.
    package static let maximumBytes = CertificateFile.maximumBytes

    /// The certificates, in the order of the file; at least one.
    package let certificates: [X509Certificate]

    /// - Parameter path: the file's name for messages.
    /// - Throws: ``PublishingError`` `unreadable` if the file has no certificate, or one that cannot be read.
    package init(_ data: Data, path: String) throws(PublishingError) {
        try ForeignFile(data, path: path).check(wanting: .certificate)
        guard data.first == 0x30 || data.range(of: Data("-----BEGIN ".utf8)) != nil else {
            throw PublishingError(
                .unreadable, of: path, expected: "certificates in PEM or DER",
                found: "neither, such as a message in text",
                remedy: "Give a file with a block that begins with -----BEGIN CERTIFICATE-----.")
        }
        do throws(CertificateFileError) {
            certificates = try CertificateFile.certificates(in: data, named: path)
        } catch {
            throw PublishingError(
                .unreadable, of: path, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        guard !certificates.isEmpty else {
            throw PublishingError(
                .unreadable, of: path, expected: "at least one certificate", found: "other PEM blocks only")
        }
    }

    /// The certificates as trust anchors.
    package var anchors: TrustAnchors { TrustAnchors(certificates) }

    /// The DER of each certificate.
    package var octets: [Data] { certificates.map { Data($0.der) } }
}
