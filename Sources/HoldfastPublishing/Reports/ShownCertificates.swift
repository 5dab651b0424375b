import Foundation
import Holdfast
import HoldfastSigning

/// Displays the content of PEM or DER: certificates, requests, keys and revocation lists.
struct ShownCertificates {
    private let data: Data
    private let name: String
    private let now: Date
    /// The possible signing certificates; those from --signer come first.
    private var issuers: [X509Certificate]
    private let blocks: [PEMBlocks.Block]?

    init(_ data: Data, name: String, evidence: ShownDocument.Evidence, now: Date) {
        self.data = data
        self.name = name
        self.now = now
        let isPEM = data.first != 0x30
        blocks = isPEM ? PEMBlocks.read(data) : nil
        issuers = evidence.signerCertificates
        for case .success(let der) in (blocks ?? []).filter({ $0.kind == .certificate }).map(\.content) {
            if let certificate = try? X509Certificate(der: der) { issuers.append(certificate) }
        }
    }

    func items() throws(PublishingError) -> [ShownItem] {
        try ForeignFile(data, path: name).check(wanting: .certificate)
        guard let blocks else { return [try item(ofDER: [UInt8](data))] }
        // OpenSSL's legacy encryption, recognized by headers inside the block (RFC 1421 4.6.1.1).
        let isEncrypted = data.range(of: Data("Proc-Type: 4,ENCRYPTED".utf8)) != nil
        var items: [ShownItem] = []
        var position = 0
        for block in blocks {
            if block.kind == .encryptedPrivateKey || block.kind == .privateKey && isEncrypted {
                items.append(encryptedKey)
                continue
            }
            let der: [UInt8]
            switch block.content {
            case .success(let content): der = content
            case .failure(let problem):
                throw PublishingError(
                    .invalidDocument, of: name, expected: "PEM", found: problem.text,
                    remedy: "Get it again from where it was made.")
            }
            switch block.kind {
            case .certificate:
                items.append(certificate(der, position: position))
                position += 1
            case .other where block.label == "X509 CRL": items.append(try revocationList(der))
            case .certificateRequest, .publicKey, .privateKey: items.append(try key(der))
            case .encryptedPrivateKey, .other:
                var item = ShownItem("a block of \(block.name)")
                item.add("line", "\(block.line), which Holdfast does not read")
                items.append(item)
            }
        }
        return items
    }

    /// DER does not state its kind, so each kind is tried. No two kinds can be mistaken for one another.
    private func item(ofDER der: [UInt8]) throws(PublishingError) -> ShownItem {
        if (try? X509Certificate(der: der)) != nil { return certificate(der, position: 0) }
        if let list = try? revocationList(der) { return list }
        if PrivateKeyReader.isEncrypted(der) { return encryptedKey }
        return try key(der)
    }

    private func certificate(_ der: [UInt8], position: Int) -> ShownItem {
        var item = ShownItem("certificate")
        item.certificate = CertificateReport(der: der, position: position, now: now)
        guard let certificate = try? X509Certificate(der: der) else { return item }
        item.add("warning", ClientUse(der: der)?.warning)
        item.signature = signature(
            certificate.signatureAlgorithm, issuer: certificate.issuer,
            isOwn: certificate.isSelfIssued ? certificate : nil
        ) { certificate.signatureCheck(by: $0) }
        return item
    }

    private func revocationList(_ der: [UInt8]) throws(PublishingError) -> ShownItem {
        let list: CertificateRevocationList
        do throws(CertificateError) {
            list = try CertificateRevocationList(der: der)
        } catch {
            throw PublishingError(
                .invalidDocument, of: name, expected: "a revocation list", found: "one that cannot be read: \(error)",
                remedy: "Get it again from where it was made.")
        }
        var item = ShownItem(
            "revocation list",
            signature: signature(list.signatureAlgorithm, issuer: list.issuer, isOwn: nil) {
                list.signatureCheck(by: $0)
            })
        item.add("issuer", list.issuer.description)
        item.add("issued", list.thisUpdate.formatted(.iso8601))
        item.add(
            "until",
            list.nextUpdate.map {
                "\($0.formatted(.iso8601)), "
                    + DaysLeft.text(DaysLeft.days(until: $0, from: now))
            } ?? "it does not say")
        item.add("revokes", list.count == 1 ? "1 certificate" : "\(list.count) certificates")
        item.add("remark", list.unsupported.map { "it vouches for no certificate: it is \($0)" })
        return item
    }

    /// - Parameter isOwn: the certificate itself, if it names itself as its issuer.
    private func signature(
        _ algorithm: CertificateSignatureAlgorithm, issuer: DistinguishedName, isOwn: X509Certificate?,
        _ check: (X509Certificate) -> SignatureCheck
    ) -> ShownItem.Signature {
        // An issuer's certificate would not help.
        if let name = algorithm.unsupportedName { return .init(unsupported: name) }
        if let isOwn, check(isOwn) == .valid { return .init(state: .verified, text: "by itself") }
        let named = issuers.filter { $0.subject == issuer && $0 != isOwn }
        if named.contains(where: { check($0) == .valid }) { return .init(state: .verified, text: "by \(issuer)") }
        for case .unsupported(let name) in ([isOwn].compactMap(\.self) + named).map(check) {
            return .init(unsupported: name)
        }
        guard named.isEmpty, isOwn == nil else {
            return .init(state: .invalid, text: "it does not verify under the key of \(issuer)")
        }
        return .init(state: .unverified, text: "\(issuer) is not here; give its certificate with --signer")
    }

    private func key(_ der: [UInt8]) throws(PublishingError) -> ShownItem {
        let entry = try PublicKeyFile(data, path: name).entry(ofDER: der)
        let kind =
            switch entry.kind {
            case .certificate: "certificate"
            case .privateKey: "private key"
            case .publicKey: "public key"
            case .certificateRequest: "certificate request"
            }
        var item = ShownItem(kind)
        if entry.kind == .certificateRequest { item.signature = Self.signature(ofRequest: der) }
        item.add("subject", entry.subject)
        item.add("key", entry.key)
        item.add("key pin", entry.keyPin)
        if entry.kind != .certificateRequest { item.add("key id", Self.roleKeyID(of: der)) }
        return item
    }

    /// The id under which a repository lists a public or private key; nil for a key that roles cannot have.
    private static func roleKeyID(of der: [UInt8]) -> String? {
        guard let key = (try? SubjectPublicKeyInfo(der: der)) ?? (try? PrivateKeyReader(der: der))?.publicKey else {
            return nil
        }
        return (try? TUFPublicKey(der: Array(key.der)))?.id
    }

    private static func signature(ofRequest der: [UInt8]) -> ShownItem.Signature {
        switch (try? CertificateRequest(der: der))?.signatureCheck {
        case .valid?: .init(state: .verified, text: "with the key that it is for")
        case .invalid?: .init(state: .invalid, text: "it does not verify under the key that it is for")
        case .unsupported(let name)?: .init(unsupported: name)
        case nil: .init(state: .unverified, text: "the request cannot be read")
        }
    }

    private var encryptedKey: ShownItem {
        var item = ShownItem("encrypted private key")
        let file = ForeignFile.quoted(name)
        item.add("key pin", "openssl pkey -in \(file) -pubout | holdfastctl pin -")
        return item
    }
}
