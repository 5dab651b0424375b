package import Foundation
import Holdfast
import HoldfastSigning

/// Reads everything with a public key from a file in PEM or DER.
package struct PublicKeyFile {
    package struct Content: Sendable {
        package var entries: [PinEntry] = []
        /// The skipped parts, and why skipping them is harmless.
        package var notes: [String] = []
    }

    private let data: Data
    private let path: String

    /// - Parameter path: the name of the file, for messages and titles.
    package init(_ data: Data, path: String) {
        self.data = data
        self.path = path
    }

    package func read() throws(PublishingError) -> Content {
        try ForeignFile(data, path: path).check(wanting: .publicKey)
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil, data.first != 0x30 else {
            return Content(entries: [try entry(ofDER: Array(data))])
        }
        // OpenSSL's legacy encryption, recognized by headers inside the block (RFC 1421 4.6.1.1).
        if data.range(of: Data("Proc-Type: 4,ENCRYPTED".utf8)) != nil { throw encrypted }
        let blocks = PEMBlocks.read(data)
        var content = Content()
        for (index, block) in blocks.enumerated() {
            let place = blocks.count == 1 ? path : "\(path) #\(index + 1)"
            if let entry = try entry(of: block, place: place) {
                content.entries.append(entry)
            } else {
                content.notes.append("skipped a block of \(block.name) in line \(block.line), which has no public key")
            }
        }
        guard !content.entries.isEmpty else { throw failure("holds no certificate, key or certificate request") }
        return content
    }

    private func entry(of block: PEMBlocks.Block, place: String) throws(PublishingError) -> PinEntry? {
        let der: [UInt8]
        switch block.content {
        case .success(let content): der = content
        case .failure(let problem): throw failure("cannot be read as PEM: \(problem.text)")
        }
        switch block.kind {
        case .certificate:
            do throws(CertificateError) {
                return try certificate(der, place: place)
            } catch {
                throw failure("has a certificate that cannot be read: \(ForeignErrorText.found(error))")
            }
        case .certificateRequest:
            do throws(CertificateError) {
                return try request(der, place: place)
            } catch {
                throw failure("has a certificate request that cannot be read: \(ForeignErrorText.found(error))")
            }
        case .publicKey:
            do throws(CertificateError) {
                return try publicKey(der, place: place)
            } catch {
                throw failure("has a public key that cannot be read: \(ForeignErrorText.found(error))")
            }
        case .encryptedPrivateKey:
            throw encrypted
        case .privateKey:
            return try privateKey(der, place: place)
        default:
            return nil
        }
    }

    /// DER does not state its kind, so each kind is tried. No two kinds can be mistaken for one another.
    package func entry(ofDER der: [UInt8]) throws(PublishingError) -> PinEntry {
        if let entry = try? certificate(der, place: path) { return entry }
        if let entry = try? request(der, place: path) { return entry }
        if let entry = try? publicKey(der, place: path) { return entry }
        if PrivateKeyReader.isEncrypted(der) { throw encrypted }
        do throws(PrivateKeyReader.Failure) {
            return PinEntry(key: try PrivateKeyReader(der: der).publicKey, kind: .privateKey, place: path)
        } catch {
            if error.hasExplicitParameters { throw ForeignFile.explicitParameters(path, form: "-inform DER ") }
        }
        throw failure("is neither PEM nor the DER of a certificate, a key or a certificate request")
    }

    private func certificate(_ der: [UInt8], place: String) throws(CertificateError) -> PinEntry {
        let certificate = try X509Certificate(der: der)
        return PinEntry(certificate, place: place, isIssuer: certificate.isIssuerOnly)
    }

    private func publicKey(_ der: [UInt8], place: String) throws(CertificateError) -> PinEntry {
        PinEntry(key: try SubjectPublicKeyInfo(der: der), kind: .publicKey, place: place)
    }

    private func request(_ der: [UInt8], place: String) throws(CertificateError) -> PinEntry {
        let request = try CertificateRequest(der: der)
        var entry = PinEntry(
            key: request.subjectPublicKeyInfo, kind: .certificateRequest, subject: request.subject.description,
            dnsNames: request.dnsNames, place: place)
        entry.requestSignature = request.signatureCheck
        switch request.signatureCheck {
        case .valid: break
        case .invalid: entry.remark = "its signature does NOT verify"
        case .unsupported(let name): entry.remark = "its signature was not verified: \(name) is not supported"
        }
        return entry
    }

    private func privateKey(_ der: [UInt8], place: String) throws(PublishingError) -> PinEntry {
        do throws(PrivateKeyReader.Failure) {
            return PinEntry(key: try PrivateKeyReader(der: der).publicKey, kind: .privateKey, place: place)
        } catch {
            if error.hasExplicitParameters { throw ForeignFile.explicitParameters(path) }
            throw failure(
                "has a private key that cannot be used: \(error.reason)",
                remedy: HostCheckError.Code.unsupportedKey.remedy)
        }
    }

    private var encrypted: PublishingError { ForeignFile.encryptedKey(path, wanting: .publicKey) }

    private func failure(
        _ what: String, remedy: String = "Give a file in PEM or DER with one of them."
    ) -> PublishingError {
        PublishingError(
            .unreadable, of: path, expected: "certificates, keys or certificate requests", found: "that it \(what)",
            remedy: remedy)
    }
}
