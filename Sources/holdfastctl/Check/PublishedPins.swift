import Foundation
import Holdfast
import HoldfastSigning

/// The pins that clients have or download. Servers are checked against them before a client is locked out.
struct PublishedPins: Sendable {
    /// What the pins mean for one server. Its fields are those of the JSON object.
    struct Verdict: Encodable {
        /// Whether a client with these pins refuses the server.
        let isLockedOut: Bool
        /// Why the client refuses the server, or what lets it in.
        let text: String
        /// Whole days until the last entry that lets it in expires; absent in documents whose entries do not expire.
        var entryDaysLeft: Int?
        /// Whole days until clients stop using the document; absent for documents that do not age.
        var documentDaysLeft: Int?
        /// Whether an entry, or a file that people make, ends within the days given with --watch.
        var expiresSoon = false

        /// The days that are left, in words.
        var remaining: String? {
            let parts = [
                entryDaysLeft.map { "entry: \(CertificateReport.remaining($0))" },
                documentDaysLeft.map { "document: \(CertificateReport.remaining($0))" },
            ].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }

        private enum CodingKeys: CodingKey {
            case isLockedOut, text, entryDaysLeft, documentDaysLeft, expiresSoon
        }
    }

    private enum Content: Sendable {
        case pinFile(PinFilePins)
        case list([FingerprintEntry])
        case trustServer(TrustServerDocument)
    }

    private let name: String
    private let content: Content

    /// Reads a pin file, which is not signed.
    init(pinFile data: Data, named name: String) throws(CommandFailure) {
        self.name = name
        content = .pinFile(
            PinFilePins(
                try PinFileReading.pinFile(
                    data, named: name,
                    remedies: [
                        .signedList: "give the signer's public key with --key",
                        .trustServerDocument: "give its signer's certificate with --signer",
                    ])))
    }

    /// Gets the pins from a repository as an app does that was built with a root: from the bundle, or file by file if
    /// there is no bundle.
    init(repository origin: RepositoryOrigin, root: Data, at time: Date) async throws(CommandFailure) {
        let bundle = try await origin.bundle()
        let following = RepositoryFollowing(
            try await origin.following(root: root, at: time), bundle: bundle, root: root, at: time)
        guard let file = following.pins else { throw CommandFailure(.invalidList, following.verdict(at: origin.name)) }
        name = "the repository \(origin.name)"
        content = .pinFile(PinFilePins(file))
    }

    /// Reads a list that is signed with a key.
    init(list data: Data, named name: String, key: DocumentPublicKey) throws(CommandFailure) {
        self.name = name
        do throws(DocumentError) {
            content = .list(try FingerprintList(verifying: data, with: key).entries)
        } catch {
            throw CommandFailure(.invalidList, "\(name) does not verify: \(error)")
        }
    }

    /// Reads a trust server's document, with the certificate that clients are configured with.
    /// - Parameter customer: the expected customer; nil to accept any.
    init(
        document data: Data, named name: String, signer: String, customer: String?, at time: Date
    ) throws(CommandFailure) {
        self.name = name
        let certificate = try KeyFile.content(of: signer)
        do throws(DocumentError) {
            let signer = try TrustServerSigner(certificate: certificate)
            let named: String
            if let customer { named = customer } else { named = try UnverifiedTrustServerDocument(data).customer }
            content = .trustServer(
                try TrustServerDocument(verifying: data, by: signer, customer: named, at: time))
        } catch {
            throw CommandFailure(.invalidList, "\(name) does not verify: \(error)")
        }
    }

    /// Every host that can be dialled, each once.
    var hosts: [DialledHost] {
        var seen: Set<DialledHost> = []
        return places.compactMap(Self.host).filter { seen.insert($0).inserted }
    }

    /// The names that cannot be dialled: patterns, and common names that are not hosts.
    var namesThatCannotBeDialled: [String] {
        places.filter { Self.host($0) == nil }.map(\.name)
    }

    private struct Place {
        let name: String
        let port: Int?
    }

    private static func host(_ place: Place) -> DialledHost? {
        try? place.port.map { try DialledHost(place.name, port: $0) } ?? DialledHost(place.name)
    }

    private var places: [Place] {
        switch content {
        case .pinFile(let pins): pins.places.map { Place(name: $0.name, port: $0.port) }
        case .list(let entries): entries.map { Place(name: $0.name, port: nil) }
        case .trustServer(let document): document.entries.map { Place(name: $0.hostname, port: $0.port) }
        }
    }

    /// The pins of a host that are valid at a time.
    func pins(of host: DialledHost, at time: Date) -> [Pin] {
        switch content {
        case .pinFile(let pins): pins.pins(of: host)
        case .list: listed(host, at: time).map(\.pin)
        case .trustServer: entries(of: host).flatMap { $0.certificatePins + $0.publicKeyPins }
        }
    }

    /// The policy that clients have for a host, if the document determines all of it; nil if it has only pins.
    func policy(of host: DialledHost) -> (any TrustPolicy)? {
        guard case .pinFile(let pins) = content else { return nil }
        return pins.policy(of: host) ?? StandardPolicy(host: HostPattern(host))
    }

    // MARK: Verdict

    /// - Parameter watch: how soon is too soon.
    func judge(_ decision: TrustDecision, watch: ExpiryWatch?) -> Verdict? {
        guard let host = decision.host else { return nil }
        switch content {
        case .pinFile(let pins):
            let end = pins.documentEnd.map { CertificateReport.days(until: $0, from: decision.time) }
            if let problem = pins.problem(of: host, decision) {
                return verdict(on: decision, "\(name) \(problem)", documentDays: end, watch: watch)
            }
            let entry = pins.entryEnd(of: host, decision).map {
                CertificateReport.days(until: $0, from: decision.time)
            }
            return verdict(
                on: decision, nil, remark: pins.remark(on: decision), entryDays: entry, documentDays: end, watch: watch)
        case .list:
            guard decision.isTrusted, let path = decision.path?.certificates else { return refused(host, decision) }
            let ends = listed(host, at: decision.time).filter { entry in
                entry.depth < path.count && path[entry.depth].certificatePin == entry.pin
            }.map(\.expiryDate)
            guard let end = ends.max() else {
                return verdict(on: decision, "no certificate stands where \(name) has its pin")
            }
            let days = CertificateReport.days(until: end, from: decision.time)
            return verdict(on: decision, nil, entryDays: days, watch: watch)
        case .trustServer(let document):
            let end = Self.end(of: document)
            let days = CertificateReport.days(until: end, from: decision.time)
            guard decision.isTrusted, let path = decision.path?.certificates else {
                return refused(host, decision, documentDays: days)
            }
            // Clients use one of the two kinds of pins, depending on their configuration.
            let entries = entries(of: host)
            for (kind, pins) in [
                ("certificate", entries.flatMap(\.certificatePins)), ("key", entries.flatMap(\.publicKeyPins)),
            ] where !path.contains(where: { pins.contains($0.certificatePin) || pins.contains($0.publicKeyPin) }) {
                return verdict(on: decision, "no \(kind) of its path is among those of \(name)", documentDays: days)
            }
            return verdict(
                on: decision, end < decision.time ? "\(name) is too old for clients" : nil, documentDays: days)
        }
    }

    /// When clients stop using the document. Trust servers sign every few minutes, so its end is not a reason for a
    /// warning.
    private static func end(of document: TrustServerDocument) -> Date {
        let settings = OnlinePinningSettings()
        return document.timestamp.addingTimeInterval((settings.maxAge + settings.grace).inSeconds)
    }

    private func refused(_ host: DialledHost, _ decision: TrustDecision, documentDays: Int? = nil) -> Verdict {
        let hasNone = pins(of: host, at: decision.time).isEmpty
        return verdict(
            on: decision, hasNone ? "\(name) has no valid pin for \(host.name)" : nil, documentDays: documentDays)
    }

    private func verdict(
        on decision: TrustDecision, _ problem: String?, remark: String? = nil, entryDays: Int? = nil,
        documentDays: Int? = nil, watch: ExpiryWatch? = nil
    ) -> Verdict {
        let isLockedOut = problem != nil || !decision.isTrusted
        let ends = [entryDays, documentDays].compactMap(\.self)
        return Verdict(
            isLockedOut: isLockedOut,
            text: problem
                ?? (isLockedOut
                    ? "clients with \(name) are locked out"
                    : "\(name) lets clients in" + (remark.map { ", \($0)" } ?? "")),
            entryDaysLeft: entryDays, documentDaysLeft: documentDays,
            expiresSoon: watch.map { watch in ends.contains { $0 < watch.days } } ?? false)
    }

    private func listed(_ host: DialledHost, at time: Date) -> [FingerprintEntry] {
        guard case .list(let entries) = content else { return [] }
        return entries.counting(for: host, at: time)
    }

    private func entries(of host: DialledHost) -> [TrustServerEntry] {
        guard case .trustServer(let document) = content else { return [] }
        return document.entries.filter {
            ASCIIText.lowercased($0.hostname).elementsEqual(host.name.utf8) && ($0.port == nil || $0.port == host.port)
        }
    }
}

extension [FingerprintEntry] {
    /// The entries that a store would use: those of the first of the host's names that has an unexpired one.
    func counting(for host: DialledHost, at time: Date) -> [FingerprintEntry] {
        let usable = filter { $0.expires >= time.wholeSeconds }
        for name in FingerprintEntry.names(for: host) {
            let named = usable.filter { ASCIIText.lowercased($0.name).elementsEqual(name.utf8) }
            if !named.isEmpty { return named }
        }
        return []
    }
}
