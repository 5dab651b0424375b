package import Foundation
import Holdfast
package import HoldfastSigning

extension TrustServerBackups {
    /// Reads the certificates and keys of files, PEM or DER, which every host gets in addition to its own.
    /// - Parameter files: each with its name for messages.
    package init(files: [(name: String, data: Data)]) throws(PublishingError) {
        var certificates: [X509Certificate] = []
        var keys: [SubjectPublicKeyInfo] = []
        for (path, data) in files {
            try ForeignFile(data, path: path).check(wanting: .publicKey)
            if let certificate = try? X509Certificate(der: [UInt8](data)) {
                certificates.append(certificate)
                continue
            }
            var count = 0
            for block in PEMBlocks.read(data) {
                switch block.kind {
                case .certificate:
                    certificates.append(try Self.use(block, of: path) { try X509Certificate(der: $0) })
                case .publicKey: keys.append(try Self.use(block, of: path) { try SubjectPublicKeyInfo(der: $0) })
                case .certificateRequest:
                    keys.append(try Self.use(block, of: path) { try CertificateRequest(der: $0).subjectPublicKeyInfo })
                case .encryptedPrivateKey: throw ForeignFile.encryptedKey(path, wanting: .publicKey)
                case .privateKey:
                    keys.append(try Self.use(block, of: path) { try PrivateKeyReader(der: $0).publicKey })
                default: continue
                }
                count += 1
            }
            guard count > 0 else {
                throw PublishingError(
                    .unreadable, of: path, expected: "a certificate, key or certificate request", found: "none")
            }
        }
        for certificate in certificates {
            do throws(PinError) {
                _ = try certificate.pin(.certificate)
            } catch {
                throw PublishingError(
                    .unreadable, of: "the backups", expected: error.expected, found: error.found,
                    remedy: "Name a file with its key instead of the certificate.")
            }
        }
        self.init(certificates: certificates, keys: keys)
        guard publicKeys.count <= Self.maximumPins else {
            throw PublishingError(
                .unreadable, of: "the backups", expected: "at most \(Self.maximumPins) keys, as clients take",
                found: "\(publicKeys.count) keys", remedy: "Name fewer files.")
        }
    }

    private static func use<Value>(
        _ block: PEMBlocks.Block, of path: String, _ body: ([UInt8]) throws -> Value
    ) throws(PublishingError) -> Value {
        let reason: String
        do {
            return try body(try block.content.get())
        } catch let problem as PEMBlocks.Problem {
            reason = problem.text
        } catch let error as CertificateError {
            reason = error.description
        } catch let failure as PrivateKeyReader.Failure {
            reason = failure.reason
        } catch {
            reason = "it cannot be read"
        }
        throw PublishingError(
            .unreadable, of: path, expected: "a \(block.name) in line \(block.line)",
            found: "one that cannot be used: \(reason)", remedy: "Make the file anew.")
    }
}
