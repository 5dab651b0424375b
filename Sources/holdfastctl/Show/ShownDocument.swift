import Crypto
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// Shows what a document says, item by item.
struct ShownDocument {
    let data: Data
    /// The document's name for messages.
    let name: String
    let evidence: ShowEvidence
    let now: Date

    init(_ data: Data, name: String, evidence: ShowEvidence, now: Date) {
        self.data = data
        self.name = name
        self.evidence = evidence
        self.now = now
    }

    /// - Throws: if the document cannot be read as what it seems to be, or if evidence was given that is useless for
    ///   it.
    func items() throws(CommandFailure) -> [ShownItem] {
        let kind = DocumentKind(data)
        try refuseUselessEvidence(of: kind)
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

    private func refuseUselessEvidence(of kind: DocumentKind) throws(CommandFailure) {
        func refuse(_ option: String) -> CommandFailure {
            CommandFailure(.wrongUsage, "\(name) looks like \(kind.description), and \(option) does not apply to it")
        }
        let takesKey = [.signedList, .listEntry, .challengeAnswer].contains(kind)
        if evidence.key != nil, !takesKey { throw refuse("--public-key") }
        if evidence.challenge != nil, kind != .challengeAnswer { throw refuse("--challenge") }
        if !evidence.signerCertificates.isEmpty, ![.trustServerDocument, .pem, .der].contains(kind) {
            throw refuse("--signer")
        }
        if evidence.root != nil, ![.metadata, .bundle].contains(kind) { throw refuse("--root") }
    }

    private func unreadable(_ error: some Error & CustomStringConvertible, as kind: DocumentKind) -> CommandFailure {
        CommandFailure(.invalidList, "\(name) cannot be read as \(kind.description): \(error)")
    }

    private func time(_ date: Date, ends: Bool = true) -> String {
        ends ? DaysLeft.end(date, from: now) : date.formatted(.iso8601)
    }

    // MARK: Pins

    private func pinFile() throws(CommandFailure) -> ShownItem {
        let document = try PinFileReading.document(data, named: name)
        let file = document.file
        var item = ShownItem(
            "pin file", signature: .init(state: .unsigned, text: "trust it only as far as its source"))
        item.add("app", file.app)
        item.add("issued", file.issuedAt.map { time($0, ends: false) })
        item.add("until", file.notAfter.map { time($0) } ?? "it does not end")
        item.add(
            "refresh", file.refresh.map { "after \($0.after) s, jitter \($0.jitter.value), grace \($0.grace) s" })
        for host in file.hosts {
            guard !host.isRetired else {
                let ports = host.ports.isEmpty ? "" : ", port \(host.ports.map(String.init).joined(separator: ", "))"
                item.add("host", "\(host.pattern)\(ports), retired: clients refuse it")
                continue
            }
            let ports = host.ports.isEmpty ? nil : "port \(host.ports.map(String.init).joined(separator: ", "))"
            let backup = host.hasBackup ? nil : "NO BACKUP"
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
        for field in document.fields {
            item.add("unknown", "\(field.path) is \(String(decoding: field.value, as: UTF8.self))")
        }
        for anchor in file.debugAnchors { item.add("debug", "anchor \(anchor.subject), only in debug builds") }
        return item
    }

    private func list(isEntry: Bool) throws(CommandFailure) -> ShownItem {
        let list = isEntry ? Data("{\"fingerprints\":[".utf8) + data + Data("]}".utf8) : data
        let kind = isEntry ? DocumentKind.listEntry : .signedList
        var item: ShownItem
        do throws(DocumentError) {
            let content = try UnverifiedFingerprintList(list)
            item = ShownItem(kind.description)
            item.entries = (content.entries ?? []).map { PinListReport.Entry($0, now: now) }
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
            item.signature = .init(state: .invalid, text: "\(error)")
        }
        return item
    }

    private func answer() throws(CommandFailure) -> ShownItem {
        var item = ShownItem(DocumentKind.challengeAnswer.description)
        do throws(DocumentError) {
            item.entries = (try UnverifiedFingerprintList(data).entries ?? []).map {
                PinListReport.Entry($0, now: now)
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
            item.signature = .init(state: .invalid, text: "\(error)")
        }
        return item
    }

    private func trustServerDocument() throws(CommandFailure) -> ShownItem {
        let document: UnverifiedTrustServerDocument
        do throws(DocumentError) {
            document = try UnverifiedTrustServerDocument(data)
        } catch {
            // Other programs put certificates into the same CMS envelope.
            if error.code != .invalidValue, error.code != .missingField {
                try ForeignFile(data, path: name).refuse(wanting: .certificate)
            }
            throw unreadable(error, as: .trustServerDocument)
        }
        var item = ShownItem(DocumentKind.trustServerDocument.description, signature: signature(of: document))
        item.add("customer", document.customer)
        item.add("made", time(document.timestamp, ends: false))
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
            guard document.isSignedByItsSigner != false else {
                return .init(state: .invalid, text: "it does not verify under the certificate inside the document")
            }
            return .init(state: .unverified, text: "with --signer give the certificate that clients have")
        }
        do throws(DocumentError) {
            _ = try TrustServerDocument(
                verifying: data, by: try TrustServerSigner(certificate: Data(certificate.der)),
                customer: document.customer, at: now, allowsLegacyDigests: true)
            return .init(state: .verified, text: "signed by \(certificate.subject)")
        } catch {
            return .init(state: .invalid, text: "\(error)")
        }
    }

    // MARK: Text

    /// Shows a word that may be a public key as `keygen` prints it, a pin, or a private key's number.
    private func text() throws(CommandFailure) -> ShownItem {
        try ForeignFile(data, path: name).refuse(wanting: .publicKey)
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
        throw CommandFailure(
            .invalidList,
            "\(name) is not one of Holdfast's documents, nor a key, certificate, request or revocation list")
    }
}
