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
                let own = try Self.own([certificate], of: path, included)
                try Self.check(own.map { Array($0.subjectPublicKeyInfo) }, of: path)
                certificates += own
                continue
            }
            let known = keys.count
            var count = 0
            var chain: [X509Certificate] = []
            for block in PEMBlocks.read(data) {
                switch block.kind {
                case .certificate:
                    chain.append(try Self.use(block, of: path) { try X509Certificate(der: $0) })
                case .publicKey: keys.append(try Self.use(block, of: path) { try SubjectPublicKeyInfo(der: $0) })
                case .certificateRequest:
                    let request = try Self.use(block, of: path) { try CertificateRequest(der: $0) }
                    try Self.check(path) { () throws(HostCheckError) in
                        try HostKeyCheck.check(request.signatureCheck, named: path)
                    }
                    keys.append(request.subjectPublicKeyInfo)
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
            let own = try Self.own(chain, of: path, included)
            try Self.check(
                own.map { Array($0.subjectPublicKeyInfo) } + keys.dropFirst(known).map { Array($0.der) }, of: path)
            certificates += own
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

    /// Checks that clients accept keys: a backup that they refuse is found out on the day when it is needed.
    private static func check(_ keys: [[UInt8]], of path: String) throws(PublishingError) {
        for key in keys {
            try check(path) { () throws(HostCheckError) in try HostKeyCheck.check(key: key, named: path) }
        }
    }

    private static func check(_ path: String, _ body: () throws(HostCheckError) -> Void) throws(PublishingError) {
        do throws(HostCheckError) {
            try body()
        } catch {
            throw PublishingError(error, of: path)
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
