package import Foundation
import Holdfast
package import HoldfastSigning

extension TrustServerBackups {
    /// Reads the certificates and keys of files, PEM or DER, which every host gets in addition to its own.
    /// - Parameters:
    ///   - files: the files, each with its name for messages.
    ///   - included: the certificates of hosts that are published. With `leaf`, a file with the chain of a certificate,
    ///     as ACME clients write it, gives only that certificate: with an authority's pin, every certificate that the
    ///     authority issues would be accepted.
    package init(
        files: [(name: String, data: Data)], included: PublishingRound.Included = .leaf
    ) throws(PublishingError) {
        var certificates: [X509Certificate] = []
        var keys: [SubjectPublicKeyInfo] = []
        for (path, data) in files {
            try ForeignFile(data, path: path).check(wanting: .publicKey)
            if let certificate = try? X509Certificate(der: [UInt8](data)) {
                certificates += try Self.own([certificate], of: path, included)
                continue
            }
            var count = 0
            var chain: [X509Certificate] = []
            for block in PEMBlocks.read(data) {
                switch block.kind {
                case .certificate:
                    chain.append(try Self.use(block, of: path) { try X509Certificate(der: $0) })
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
            certificates += try Self.own(chain, of: path, included)
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

    /// The certificates of a file that are published: CA certificates only if those of authorities are included.
    private static func own(
        _ certificates: [X509Certificate], of path: String, _ included: PublishingRound.Included
    ) throws(PublishingError) -> [X509Certificate] {
        guard included == .leaf, !certificates.isEmpty else { return certificates }
        let own = certificates.filter { !$0.isAuthority }
        guard !own.isEmpty else {
            throw PublishingError(
                .unreadable, of: path, expected: "a host's own certificate or key", found: "an authority's certificate",
                remedy: "Name the file of the host's next certificate or key; to pin the authority as well, give "
                    + "--include all.")
        }
        return own
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
