package import Foundation
package import Holdfast
import HoldfastSigning
import HoldfastTUF

/// A document that clients hold, verified as they verify it: the document for an outlook, the hosts that it names, and
/// the clients' own policy for it.
package struct PublishedPins: Sendable {
    /// A destination in the document: a host name, or a pattern that cannot be dialed.
    package struct Place: Sendable {
        package let name: String
        package let port: Int?

        package init(name: String, port: Int?) {
            self.name = name
            self.port = port
        }
    }

    /// The document, for an outlook.
    package var document: PublicationOutlook.Document
    private let source: any PinSource
    /// The kinds of pins that clients use, each in a separate policy; nil for clients that use all.
    private let subjects: [Pin.Subject?]
    private let places: [Place]
    /// The pin file in builds, alone or in a bundle; nil for documents that clients get from a server.
    private let carried: PinFile?
    /// The pin file, in builds or from a server; nil for documents of other kinds.
    private let file: PinFile?

    private init(
        _ document: PublicationOutlook.Document, _ source: any PinSource, subjects: [Pin.Subject?] = [nil],
        _ places: [Place], of file: PinFile? = nil, isCarried: Bool = false
    ) {
        self.file = file
        carried = isCarried ? file : nil
        self.document = document
        self.source = source
        self.subjects = subjects
        self.places = places
    }

    /// The pins of an unsigned pin file in builds.
    /// - Parameters:
    ///   - remedies: the remedies for other kinds of documents, for callers that read those as well.
    ///   - versions: the builds.
    package init(
        pinFile data: Data, named name: String, carriedBy versions: [String], remedies: [DocumentKind: String] = [:],
        at time: Date
    ) throws(PublishingError) {
        let file = try PinFileDocument(data, named: name, remedies: remedies).file
        self.init(
            .init(name, kind: .shippedPins, octets: data, published: time, appVersions: versions), file,
            Self.places(of: file), of: file, isCarried: !versions.isEmpty)
    }

    /// The pins of a bundle, for an app that was built with a root.
    /// - Throws: ``PublishingError`` `invalidDocument` if such an app refuses it.
    package init(bundle: Data, root: Data, named name: String, at time: Date) throws(PublishingError) {
        let file: PinFile
        do {
            file = try PinBundle.proved(bundle, root: root, clock: TUFFixedClock(now: time))
        } catch {
            throw Self.refusal(error, of: name)
        }
        let document = PublicationOutlook.Document(
            name, kind: .repository(root: root), octets: bundle, published: time)
        // The outlook reads it again, because it must not depend on this reading.
        guard case .repository(let pins) = HeldDocument.content(of: document, at: time) else {
            throw PublishingError(
                .invalidDocument, of: name, expected: "a bundle that apps with this root accept", found: "another")
        }
        self.init(document, pins, Self.places(of: file), of: file)
    }

    /// The pins of a bundle in builds, as an app starts with it. The app ignores that its metadata has expired since
    /// the date of the build.
    /// - Parameters:
    ///   - root: the root in the builds.
    ///   - grace: for how long after its `notAfter` they enforce its pins, if the bundle does not grant more time.
    ///   - versions: the builds.
    /// - Throws: ``PublishingError`` `invalidDocument` if such an app does not start with it.
    package init(
        shippedBundle bundle: Data, root: Data, grace: Duration, named name: String, carriedBy versions: [String],
        at time: Date
    ) throws(PublishingError) {
        let document = PublicationOutlook.Document(
            name, kind: .repository(root: root, shippedGrace: grace), octets: bundle, published: .distantPast,
            replaced: .distantPast, appVersions: versions)
        switch HeldDocument.content(of: document, at: time) {
        case .repository(let pins):
            self.init(document, pins, Self.places(of: pins.file), of: pins.file, isCarried: true)
        case .refused(let words):
            throw PublishingError(
                .invalidDocument, of: name, expected: "a bundle that apps with this root accept", found: words)
        case .pinFile, .list, .trustServer:
            throw PublishingError(
                .invalidDocument, of: name, expected: "a bundle that apps with this root accept", found: "another")
        }
    }

    /// The entries of a list that was signed with a key.
    package init(list data: Data, named name: String, key: DocumentPublicKey, at time: Date) throws(PublishingError) {
        let list: FingerprintList
        do throws(DocumentError) {
            list = try FingerprintList(verifying: data, with: key)
        } catch {
            throw Self.refusal(error, of: name)
        }
        self.init(
            .init(name, kind: .staticList(publicKey: key.base64), octets: data, published: time),
            FingerprintListPins(list), list.entries.map { Place(name: $0.name, port: nil) })
    }

    /// The pins of clients with challenges that are configured with a key.
    /// - Parameters:
    ///   - data: the body of a response, or the signed list whose entries the server sends.
    ///   - exchange: the exchange of the response; nil for a list.
    package init(
        challengedList data: Data, after exchange: ChallengeExchange?, named name: String, key: DocumentPublicKey,
        at time: Date
    ) throws(PublishingError) {
        let (pins, entries): (FingerprintListPins, [FingerprintEntry])
        do throws(DocumentError) {
            if let exchange {
                let response = try ChallengeResponse(
                    verifying: data, signature: exchange.signature, challenge: exchange.challenge, by: key)
                try Self.check(response.issuedAt, at: time)
                (pins, entries) = (FingerprintListPins(response), response.entries)
            } else {
                let list = try FingerprintList(verifying: data, with: key)
                (pins, entries) = (FingerprintListPins(list), list.entries)
            }
        } catch {
            throw Self.refusal(error, of: name)
        }
        let kind = PublicationOutlook.Document.Kind.challengedList(
            publicKey: key.base64, challenge: exchange?.challenge ?? "", signature: exchange?.signature ?? "")
        self.init(
            .init(name, kind: kind, octets: data, published: time), pins,
            entries.map { Place(name: $0.name, port: nil) })
    }

    /// A trust server's document, with the certificate that clients are configured with.
    /// - Parameters:
    ///   - signer: the certificate, DER or PEM.
    ///   - customer: the expected customer; nil to accept any.
    package init(
        trustServerDocument data: Data, named name: String, signer: Data, customer: String?, at time: Date
    ) throws(PublishingError) {
        do throws(DocumentError) {
            let certificate = try TrustServerSigner(certificate: signer)
            let named: String
            if let customer { named = customer } else { named = try UnverifiedTrustServerDocument(data).customer }
            let document = try TrustServerDocument(verifying: data, by: certificate, customer: named, at: time)
            try Self.check(document.timestamp, at: time)
            let pins = try TrustServerDocumentPins(
                document, TrustServerConfiguration(url: URL(filePath: "/"), signer: certificate, customer: named))
            self.init(
                .init(
                    name, kind: .trustServer(signer: signer, customer: named), octets: data,
                    published: min(time, document.timestamp)),
                pins, subjects: [.certificate, .publicKey],
                document.entries.map { Place(name: $0.hostname, port: $0.port) })
        } catch {
            throw Self.refusal(error, of: name)
        }
    }

    /// Clients accept a document that is dated ahead of the clock. It advances their time, and until then they refuse
    /// correct documents. The checks must therefore report a signer that writes milliseconds.
    private static func check(_ timestamp: Date, at time: Date) throws(DocumentError) {
        guard let error = FutureTimestamp.error(timestamp, at: time) else { return }
        throw error
    }

    /// The reasons whose remedy helps a publisher, for any kind of document.
    private static let areOwnRemedies: Set<DocumentError.Code> = [
        .unsupportedMessage, .invalidSignature, .unsupportedAlgorithm, .legacyDigest, .untrustedSigner, .wrongCustomer,
        .byteOrderMark, .notUTF8,
    ]

    private static func refusal(_ error: any Error, of name: String) -> PublishingError {
        let facts = (error as? StoreError)?.underlying as? TUFError
        let error = facts ?? error as? any HoldfastError
        var remedy: String?
        if let expired = ExpiredMetadata(facts) {
            remedy =
                "The \(expired.role) was not renewed; where the repository's folder is: "
                + expired.renewal(of: "FOLDER")
        } else if let document = error as? DocumentError, Self.areOwnRemedies.contains(document.code) {
            remedy = document.remedy.replacing("FILE.der", with: ForeignFile.quoted("\(name).der"))
                .replacing("-in FILE", with: "-in \(ForeignFile.quoted(name))")
        }
        return PublishingError(
            .invalidDocument, of: name, expected: error?.expected ?? "a document that its clients accept",
            found: error?.found ?? "another", remedy: remedy)
    }

    /// All hosts that are not retired, on each of their ports. For a domain with its subdomains, the domain itself is
    /// dialed.
    package static func places(of file: PinFile) -> [Place] {
        file.hosts.filter { !$0.isRetired }.flatMap { host in
            let name = host.pattern.scope == .oneLabel ? host.pattern.description : host.pattern.base.name
            return host.ports.isEmpty ? [Place(name: name, port: nil)] : host.ports.map { Place(name: name, port: $0) }
        }
    }

    /// The hosts whose failures are reported to a host that the same pins cover, each with a sentence that names the
    /// document.
    package var coveredReports: [(pattern: HostPattern, text: String)] {
        (file?.coveredReports ?? []).map { ($0.pattern, "\(document.name): \($0.text)") }
    }

    /// For pins from a repository, the root with which the apps were built; nil for other documents.
    package var root: Data? { if case .repository(let root, _) = document.kind { root } else { nil } }

    /// The document for clients that dial only the hosts that it names, if those are patterns. If a host is added,
    /// clients with an earlier document do not connect to it yet.
    package var documentOfOwnHosts: PublicationOutlook.Document {
        var document = document
        let names = places.map(\.name)
        if names.allSatisfy({ (try? HostPattern($0)) != nil }) { document.hosts = names }
        return document
    }

    /// Every host that can be dialed, each once.
    package var hosts: [DialedHost] {
        var seen: Set<DialedHost> = []
        return places.compactMap(Self.host).filter { seen.insert($0).inserted }
    }

    /// The names that cannot be dialed: patterns, and common names that are not hosts.
    package var namesThatCannotBeDialed: [String] { places.filter { Self.host($0) == nil }.map(\.name) }

    private static func host(_ place: Place) -> DialedHost? {
        try? place.port.map { try DialedHost(place.name, port: $0) } ?? DialedHost(place.name)
    }

    /// The pins of a host that are valid at a time, of every kind that clients use.
    package func pins(of host: DialedHost, at time: Date) -> [Pin] {
        guard case .required(let pins) = source.answer(to: PinQuestion(host: host, time: time)).content else {
            return []
        }
        return pins.pins(at: time)
    }

    /// Whether clients lack a pin with this document that they have for a name with another, so that it may lock them
    /// out. If all pins are kept, it cannot lock clients out, no matter which chain a server presents.
    /// - Parameter name: a host, or a wildcard, which stands for the hosts without an own entry.
    package func hasLost(anyOf other: PublishedPins, for name: String, at time: Date) -> Bool {
        guard let host = try? DialedHost(name.hasPrefix("*.") ? "any-other-name\(name.dropFirst())" : name) else {
            return false
        }
        return !Set(other.pins(of: host, at: time)).isSubset(of: pins(of: host, at: time))
    }

    /// Whether the pins apply to a host for which clients have other sources as well: a document in builds restricts no
    /// host that it does not name.
    func governs(_ host: DialedHost) -> Bool { carried.map { $0.host(for: host) != nil } ?? true }

    /// The policy of the clients. If clients use different kinds of pins, all of them must accept the server.
    package func policy(of host: DialedHost) throws(PolicyConfigurationError) -> any TrustPolicy {
        let pattern = HostPattern(host)
        let policies = subjects.map { PinnedPolicy(scope: .hosts(pattern), source: source, pinning: $0) }
        guard let only = policies.first, policies.count == 1 else {
            return try CompositePolicy(host: pattern, allOf: policies)
        }
        return only
    }
}

extension PublicationOutlook.Document {
    /// Marks a repository's bundle as renewed by a machine, if the last renewal is recent enough for that machine. The
    /// time of the renewal is derived from the end of the timestamp.
    /// - Parameters:
    ///   - interval: the maximum time between two renewals.
    ///   - lifetime: the lifetime of a renewed timestamp.
    package mutating func renew(every interval: Duration, lasting lifetime: Duration, at time: Date) {
        guard case .repository(let pins) = HeldDocument.content(of: self, at: time), let end = pins.timestampEnd
        else { return }
        renewalInterval = interval
        lastRenewal = end.addingTimeInterval(-lifetime.inSeconds)
    }
}
