import Foundation
import Holdfast
import HoldfastSigning
import SwiftASN1

/// Reads the certificates and keys that every host gets besides its own.
enum TrustServerBackupFile {
    static func read(_ paths: [String]) throws(CommandFailure) -> TrustServerBackups {
        var certificates: [X509Certificate] = []
        var keys: [SubjectPublicKeyInfo] = []
        for path in paths {
            let data = try KeyFile.content(of: path, maximumBytes: CertificateFile.maximumBytes)
            if let certificate = try? X509Certificate(der: [UInt8](data)) {
                certificates.append(certificate)
                continue
            }
            let blocks = (try? PEMDocument.parseMultiple(pemString: String(decoding: data, as: UTF8.self))) ?? []
            var count = 0
            for block in blocks {
                do {
                    switch block.discriminator {
                    case "CERTIFICATE", "X509 CERTIFICATE":
                        certificates.append(try X509Certificate(der: block.derBytes))
                    case "PUBLIC KEY": keys.append(try SubjectPublicKeyInfo(der: block.derBytes))
                    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
                        keys.append(try CertificateRequest(der: block.derBytes).subjectPublicKeyInfo)
                    case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
                        keys.append(try PrivateKeyReader(der: block.derBytes).publicKey)
                    default: continue
                    }
                } catch {
                    throw CommandFailure(
                        .unreadableFile, "\(path) has a \(block.discriminator) that cannot be used: \(error)")
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
}
