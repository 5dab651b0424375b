import Foundation
import Holdfast
import HoldfastPublishing
import NIOSSL

/// The certificate that a client presents to servers that ask for one, with its private key.
struct ClientIdentity: Sendable {
    private let chain: [NIOSSLCertificateSource]
    private let key: NIOSSLPrivateKeySource

    /// Reads PEM files, and checks that the certificate and the key belong together.
    init(certificateFile: String, keyFile: String) throws(CommandFailure) {
        let certificates = try Self.bytes(of: certificateFile, wanting: .certificate)
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificates).map { .certificate($0) }
        } catch {
            chain = []
        }
        guard !chain.isEmpty else {
            throw CommandFailure(.unusableClientCertificate, "\(certificateFile) has no certificate in PEM")
        }
        let keyBytes = try Self.bytes(of: keyFile, wanting: .privateKey)
        // The label of an encrypted key (RFC 7468 11), and OpenSSL's older header.
        guard Data(keyBytes).range(of: Data("ENCRYPTED".utf8)) == nil else {
            throw CommandFailure(ForeignFile.encryptedKey(keyFile, wanting: .privateKey))
        }
        do {
            key = .privateKey(try NIOSSLPrivateKey(bytes: keyBytes, format: .pem))
        } catch {
            throw CommandFailure(.unusableClientCertificate, "\(keyFile) has no private key in PEM that can be used")
        }
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([])
            apply(to: &configuration)
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw CommandFailure(
                .unusableClientCertificate,
                "the private key of \(keyFile) does not belong to the first certificate of \(certificateFile)")
        }
    }

    func apply(to configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain
        configuration.privateKey = key
    }

    /// Reads at most the allowed number of bytes: the sizes of devices and pipes mean nothing.
    private static func bytes(
        of path: String, wanting purpose: ForeignFile.Purpose
    ) throws(CommandFailure) -> [UInt8] {
        let data = try InputFile.content(of: path, maximumBytes: CertificateFile.maximumBytes)
        try ForeignFile(data, path: path).refuse(wanting: purpose)
        return Array(data)
    }
}
