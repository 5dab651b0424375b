import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// Reads the certificates and keys that every host gets in addition to its own.
enum TrustServerBackupFile {
    static func read(_ paths: [String]) throws(CommandFailure) -> TrustServerBackups {
        var certificates: [X509Certificate] = []
        var keys: [SubjectPublicKeyInfo] = []
        for path in paths {
            let data = try InputFile.content(of: path, maximumBytes: CertificateFile.maximumBytes)
            try ForeignFile(data, path: path).refuse(wanting: .publicKey)
            if let certificate = try? X509Certificate(der: [UInt8](data)) {
                certificates.append(certificate)
                continue
            }
            var count = 0
            for block in PEMBlocks.read(data) {
                switch block.kind {
                case .certificate:
                    certificates.append(try use(block, of: path) { try X509Certificate(der: $0) })
                case .publicKey: keys.append(try use(block, of: path) { try SubjectPublicKeyInfo(der: $0) })
                case .certificateRequest:
                    keys.append(try use(block, of: path) { try CertificateRequest(der: $0).subjectPublicKeyInfo })
                case .encryptedPrivateKey: throw CommandFailure(ForeignFile.encryptedKey(path, wanting: .publicKey))
                case .privateKey:
                    keys.append(try use(block, of: path) { try PrivateKeyReader(der: $0).publicKey })
                default: continue
                }
                count += 1
            }
            guard count > 0 else {
                throw CommandFailure(.unreadableFile, "\(path) holds no certificate, key or certificate request")
            }
        }
        let backups = TrustServerBackups(certificates: certificates, keys: keys)
        let limit = TrustServerBackups.maximumPins
        guard backups.publicKeys.count <= limit else {
            throw CommandFailure(
                .unreadableFile, "the backups have \(backups.publicKeys.count) keys, and clients take \(limit) at most")
        }
        return backups
    }

    private static func use<Value>(
        _ block: PEMBlocks.Block, of path: String, _ body: ([UInt8]) throws -> Value
    ) throws(CommandFailure) -> Value {
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
        throw CommandFailure(
            .unreadableFile, "\(path) has a \(block.name) in line \(block.line) that cannot be used: \(reason)")
    }
}
