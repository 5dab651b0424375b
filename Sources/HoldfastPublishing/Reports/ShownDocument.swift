import Crypto
package import Foundation
package import Holdfast
import HoldfastSigning

/// Displays the content of a document, one item at a time.
package struct ShownDocument {
    /// The keys and values with which signatures are verified.
    package struct Evidence: Sendable {
        /// The key that signs a list or an answer to a challenge.
        package var key: DocumentPublicKey?
        /// The certificates of a document's signer.
        package var signerCertificates: [X509Certificate] = []
        /// The root metadata that clients trust.
        package var root: Data?
        /// The challenge that was sent.
        package var challenge: String?
        /// The signature of the response.
        package var signature: String?

        package init() {}
    }

    /// Maximum size of any document in bytes.
    package static let maximumBytes = CertificateRevocationList.maximumBytes

    private let data: Data
    private let name: String
    private let evidence: Evidence
    private let now: Date

    /// - Parameters:
    ///   - data: the document, of any kind.
    ///   - name: its name for messages.
    ///   - evidence: the known facts about its signer.
    ///   - now: the time from which days are counted.
    package init(_ data: Data, name: String, evidence: Evidence, now: Date) {
        self.data = data
        self.name = name
        self.evidence = evidence
        self.now = now
    }

    /// - Throws: ``PublishingError`` `invalidDocument` if it cannot be read as the kind that it appears to be.
    package func items() throws(PublishingError) -> [ShownItem] {
        let kind = DocumentKind(data)
        switch kind {
        case .pinFile: return [try pinFile()]
        case .signedList, .listEntry: return [try list(isEntry: kind == .listEntry)]
        case .challengeAnswer: return [try answer()]
        case .metadata, .bundle:
            return try ShownMetadata(data, name: name, root: evidence.root, now: now).items(kind)
        case .trustServerDocument: return [try trustServerDocument()]
        case .pem, .der: return try ShownCertificates(data, name: name, evidence: evidence, now: now).items()
        case .text: return [try text()]
        }
    }

    private func unreadable(_ error: DocumentError, as kind: DocumentKind) -> PublishingError {
        PublishingError(
            .invalidDocument, of: name, expected: kind.description, found: "one that cannot be read: \(error)",
            remedy: error.code == .unsupportedAlgorithm ? error.remedy : "Get it again from where it was made.")
    }

    private func time(_ date: Date, ends: Bool = true) -> String {
        ends ? DaysLeft.end(date, from: now) : date.formatted(.iso8601)
    }

    // MARK: Pins

    private func pinFile() throws(PublishingError) -> ShownItem {
        let document = try PinFileDocument(data, named: name)
        let file = document.file
        var item = ShownItem(
            "pin file", signature: .init(state: .unsigned, text: "trust it only as far as its source"))
        item.add("app", file.app)
        item.add("issued", file.issuedAt.map { time($0, ends: false) })
        item.add("until", file.notAfter.map { time($0) } ?? "it does not end")
        item.add("refresh", file.refresh?.text)
        for host in file.hosts {
            guard !host.isRetired else {
                let ports = host.ports.isEmpty ? "" : ", port \(host.ports.map(String.init).joined(separator: ", "))"
                item.add("host", "\(host.pattern)\(ports), retired: clients refuse it")
                continue
            }
            let ports = host.ports.isEmpty ? nil : "port \(host.ports.map(String.init).joined(separator: ", "))"
            let backup = host.hasUsableBackup ? nil : "NO BACKUP"
            item.add(
                "host",
                [
                    "\(host.pattern)", ports, host.enforcement.rawValue, host.requirement.rawValue,
                    host.afterExpiry.rawValue,
                    backup,
                ]
                .compactMap(\.self).joined(separator: ", "))
            item.add(
                "reports",
                host.report.map { report in
                    "to \(report.url.quoted), \(report.failureFraction.value) of failures and "
                        + "\(report.successFraction.value) of successes"
                })
            for pin in host.pins {
                let end = pin.notAfter.map { "until \(time($0))" }
                item.add(
                    "pin",
                    ["\(pin.pin)", pin.role.rawValue, pin.state.rawValue, end].compactMap(\.self)
                        .joined(separator: ", "))
            }
        }
        for placeholder in file.placeholders { item.add("warning", placeholder.text) }
        for covered in file.coveredReports { item.add("warning", covered.text) }
        for field in document.fields {
            item.add("unknown", "\(field.path) is \(String(decoding: field.value, as: UTF8.self))")
        }
        for anchor in file.debugAnchors { item.add("debug", "anchor \(anchor.subject), only in debug builds") }
        return item
    }

    private func list(isEntry: Bool) throws(PublishingError) -> ShownItem {
        let list = isEntry ? Data("{\"fingerprints\":[".utf8) + data + Data("]}".utf8) : data
        let kind = isEntry ? DocumentKind.listEntry : .signedList
        var item: ShownItem
        do throws(DocumentError) {
            let content = try UnverifiedFingerprintList(list)
            item = ShownItem(kind.description)
            item.entries = (content.entries ?? []).map { FingerprintListReport.Entry($0, now: now) }
            if content.hasDomains { item.add("domains", "domainsConfig, which nobody signed and clients ignore") }
        } catch {
            throw unreadable(error, as: kind)
        }
        guard let key = evidence.key else {
            item.signature = .init(state: .unverified, text: "give the signer's public key with --public-key")
            return item
        }
        do throws(DocumentError) {
            _ = try FingerprintList(verifying: list, with: key)
            item.signature = .init(state: .verified, text: "every entry is signed with the key that was given")
        } catch {
            item.signature = .init(error)
        }
        return item
    }

    private func answer() throws(PublishingError) -> ShownItem {
        var item = ShownItem(DocumentKind.challengeAnswer.description)
        do throws(DocumentError) {
            item.entries = (try UnverifiedFingerprintList(data).entries ?? []).map {
                FingerprintListReport.Entry($0, now: now)
            }
            var reader = try StrictJSONReader([UInt8](data), maximumBytes: DocumentLimits().bytes)
            try reader.beginObject()
            while let field = try reader.nextKeyOctets(atMost: 64) {
                guard field.elementsEqual("timestamp".utf8) else {
                    try reader.skipValue()
                    continue
                }
                item.add("made", time(Date(wholeSeconds: try reader.integer()), ends: false))
            }
        } catch {
            throw unreadable(error, as: .challengeAnswer)
        }
        guard let key = evidence.key, let challenge = evidence.challenge, let signature = evidence.signature else {
            item.signature = .init(
                state: .unverified,
                text: "give --public-key, and what was sent and answered with --challenge and --signature")
            return item
        }
        do throws(DocumentError) {
            _ = try ChallengeResponse(verifying: data, signature: signature, challenge: challenge, by: key)
            item.signature = .init(state: .verified, text: "signed for this challenge with the key that was given")
        } catch {
            item.signature = .init(error)
        }
        return item
    }

    private func trustServerDocument() throws(PublishingError) -> ShownItem {
        let document: UnverifiedTrustServerDocument
        do throws(DocumentError) {
            document = try UnverifiedTrustServerDocument(data)
        } catch {
            // Other programs use the same CMS envelope for certificates.
            if error.code != .invalidValue, error.code != .missingField {
                try ForeignFile(data, path: name).check(wanting: .certificate)
            }
            throw unreadable(error, as: .trustServerDocument)
        }
        var item = ShownItem(DocumentKind.trustServerDocument.description, signature: signature(of: document))
        item.add("customer", document.customer)
        item.add("made", time(document.timestamp, ends: false))
        if let error = FutureTimestamp.error(document.timestamp, at: now) {
            item.add("warning", "the timestamp is ahead of the clock. \(error.remedy)")
        }
        item.add("signer", document.signer.map { "\($0.subject), according to the document" })
        if document.hasLegacyDigest { item.add("digest", "SHA-1, which clients refuse unless they are told otherwise") }
        for entry in document.entries {
            item.add("host", entry.hostname + (entry.port.map { ", port \($0)" } ?? ""))
            for pin in entry.certificatePins + entry.publicKeyPins { item.add("pin", pin.description) }
        }
        return item
    }

    private func signature(of document: UnverifiedTrustServerDocument) -> ShownItem.Signature {
        guard let certificate = evidence.signerCertificates.first else {
            switch document.checkByItsSigner {
            case .unsupported(let name)?: return .init(unsupported: name)
            case .invalid?:
                return .init(state: .invalid, text: "it does not verify under the certificate inside the document")
            case .valid?, nil: break
            }
            return .init(state: .unverified, text: "with --signer give the certificate that clients have")
        }
        do throws(DocumentError) {
            _ = try TrustServerDocument(
                verifying: data, by: try TrustServerSigner(certificate: Data(certificate.der)),
                customer: document.customer, at: now, allowsLegacyDigests: true)
            return .init(state: .verified, text: "signed by \(certificate.subject)")
        } catch {
            return .init(error)
        }
    }

    // MARK: Text

    /// Displays a word that may be a public key as `keygen` prints it, a pin, or a private key's number.
    private func text() throws(PublishingError) -> ShownItem {
        try ForeignFile(data, path: name).check(wanting: .publicKey)
        let space = Set(" \t\r\n".utf8)
        let octets = data.drop { space.contains($0) }.prefix { !space.contains($0) }
        let isOneWord = data.drop { space.contains($0) }.dropFirst(octets.count).allSatisfy { space.contains($0) }
        if octets.count <= 256, isOneWord {
            let word = String(decoding: octets, as: UTF8.self)
            if let key = try? DocumentPublicKey(base64: word),
                let der = try? P256.Signing.PublicKey(x963Representation: key.x963).derRepresentation,
                let info = try? SubjectPublicKeyInfo(der: [UInt8](der))
            {
                var item = ShownItem("public key of a signer")
                item.add("key", "P-256, Base64 of its X9.63 form")
                item.add("key pin", info.sha256Pin.description)
                item.add("key id", (try? TUFPublicKey(der: [UInt8](der)))?.id)
                return item
            }
            if let pin = try? Pin(word) {
                var item = ShownItem(pin.subject == .publicKey ? "pin of a key" : "pin of a certificate")
                item.add("pin", pin.description)
                return item
            }
            if (try? SigningKey(exportedPrivateKey: word)) != nil {
                var item = ShownItem("Base64 of 32 octets")
                item.add("may be", "the number of a private key (export-private), or the fingerprint of a certificate")
                if let key = try? TUFPublicKey(Data(octets)) {
                    item.add("or", "an Ed25519 key of a repository (keygen --kind ed25519)")
                    item.add("key id", key.id)
                }
                return item
            }
        }
        throw PublishingError(
            .invalidDocument, of: name,
            expected: "one of Holdfast's documents, or a key, certificate, request or revocation list",
            found: "a file that is none of them",
            remedy: "Give the file as it was made; a copy through an editor or a web page may differ.")
    }
}
