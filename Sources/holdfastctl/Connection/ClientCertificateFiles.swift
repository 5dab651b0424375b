import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing

/// Reads the certificate that a client presents to servers that ask for one, and its private key.
enum ClientCertificateFiles {
    /// Reads PEM files, and checks that the certificate and the key belong together.
    static func read(certificateFile: String, keyFile: String) throws(CommandFailure) -> ClientCertificate {
        let certificates = try bytes(of: certificateFile, wanting: .certificate)
        let key = try bytes(of: keyFile, wanting: .privateKey)
        // The label of an encrypted key (RFC 7468 11), and OpenSSL's older header.
        guard Data(key).range(of: Data("ENCRYPTED".utf8)) == nil else {
            throw CommandFailure(ForeignFile.encryptedKey(keyFile, wanting: .privateKey))
        }
        do throws(ProbeConfigurationError) {
            return try ClientCertificate(certificates: certificates, privateKey: key)
        } catch {
            let message =
                switch error.code {
                case .unusableClientKey:
                    "\(keyFile) has no private key in PEM that can be used. "
                        + keyRemedy(key, of: keyFile, isAlsoCertificate: keyFile == certificateFile)
                case .clientKeyMismatch:
                    "the private key of \(keyFile) does not belong to the first certificate of \(certificateFile). Put "
                        + "the certificate of the key first, or name its own key with --client-key"
                default:
                    "\(certificateFile) has no certificate in PEM. "
                        + (certificates.first == 0x30
                            ? "Write it in PEM: openssl x509 -in \(ForeignFile.quoted(certificateFile)) -inform DER -out "
                                + "certificate.pem" : "Name the file with the certificate")
                }
            throw CommandFailure(.unusableClientCertificate, message)
        }
    }

    private static func keyRemedy(_ key: [UInt8], of file: String, isAlsoCertificate: Bool) -> String {
        if key.first == 0x30 {
            return "Write it in PEM: openssl pkey -in \(ForeignFile.quoted(file)) -inform DER -out key.pem"
        }
        return isAlsoCertificate ? "Name the file that has it with --client-key" : "Name the file with the private key"
    }

    /// Reads at most the allowed number of bytes: the reported sizes of devices and pipes are meaningless.
    private static func bytes(
        of path: String, wanting purpose: ForeignFile.Purpose
    ) throws(CommandFailure) -> [UInt8] {
        let data = try InputFile.content(of: path, maximumBytes: ChainFile.maximumBytes)
        try ForeignFile(data, path: path).refuse(wanting: purpose)
        return Array(data)
    }
}
