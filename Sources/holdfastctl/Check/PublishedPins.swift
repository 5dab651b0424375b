import Foundation
import Holdfast
import HoldfastSigning

/// The pins that clients have or download, against which servers are checked before a client is locked out.
struct PublishedPins: Sendable {
    /// What they mean for one server; its fields are those of the JSON object.
    struct Verdict: Encodable {
        /// Whether a client with these pins refuses the server.
        let isLockedOut: Bool
        /// Why, or what lets it in.
        let text: String
        /// Whole days until the last entry that lets it in expires, in documents that say so.
        var entryDaysLeft: Int?
        /// Whole days until clients stop using the document, in those that age.
        var documentDaysLeft: Int?
    }

    private enum Content: Sendable {
        case list([FingerprintEntry])
        case trustServer(TrustServerDocument)
    }

    private let name: String
    private let content: Content

    /// A list that is signed with a key.
    init(list path: String, key: DocumentPublicKey) throws(CommandFailure) {
        name = path
        let data = try Self.data(path)
        do throws(DocumentError) {
            content = .list(try FingerprintList(verifying: data, with: key).entries)
        } catch {
            throw CommandFailure(.invalidList, "\(path) does not verify: \(error)")
        }
    }

    /// A document of a trust server, with the certificate that clients are configured with.
    init(document path: String, signer: String, customer: String, at time: Date) throws(CommandFailure) {
        name = path
        let data = try Self.data(path)
        let certificate = try KeyFile.content(of: signer)
        do throws(DocumentError) {
            content = .trustServer(
                try TrustServerDocument(
                    verifying: data, by: try TrustServerSigner(certificate: certificate), customer: customer, at: time))
        } catch {
            throw CommandFailure(.invalidList, "\(path) does not verify: \(error)")
        }
    }

    private static func data(_ path: String) throws(CommandFailure) -> Data {
        try InputFile.content(of: path, maximumBytes: DocumentLimits().bytes + 1)
    }

    /// Every host that can be dialled, each once; what is a wildcard names none.
    var hosts: [DialledHost] {
        let places: [(String, Int?)] =
            switch content {
            case .list(let entries): entries.map { ($0.name, nil) }
            case .trustServer(let document): document.entries.map { ($0.hostname, $0.port) }
            }
        var seen: Set<DialledHost> = []
        return places.compactMap { name, port in try? port.map { try DialledHost(name, port: $0) } ?? DialledHost(name)
        }
        .filter { seen.insert($0).inserted }
    }

    /// The pins of a host that count at a time, for a search among its paths.
    func pins(of host: DialledHost, at time: Date) -> [Pin] {
        switch content {
        case .list: listed(host, at: time).map(\.pin)
        case .trustServer: entries(of: host).flatMap { $0.certificatePins + $0.publicKeyPins }
        }
    }

    // MARK: Verdict

    func judge(_ decision: TrustDecision) -> Verdict? {
        guard let host = decision.host else { return nil }
        guard decision.isTrusted, let path = decision.path?.certificates else {
            let hasNone = pins(of: host, at: decision.time).isEmpty
            return verdict(hasNone ? "\(name) has no pin of \(host.name) that counts" : nil, decision)
        }
        switch content {
        case .list:
            let ends = listed(host, at: decision.time).filter { entry in
                entry.depth < path.count && path[entry.depth].certificatePin == entry.pin
            }.map(\.expiryDate)
            guard let end = ends.max() else {
                return verdict("no certificate stands where \(name) has its pin", decision)
            }
            let days = CertificateReport.days(until: end, from: decision.time)
            return Verdict(
                isLockedOut: false, text: "\(name) lets clients in; its entry: \(CertificateReport.remaining(days))",
                entryDaysLeft: days)
        case .trustServer:
            // Clients look at one of the two kinds, as they are configured.
            let entries = entries(of: host)
            for (kind, pins) in [
                ("certificate", entries.flatMap(\.certificatePins)), ("key", entries.flatMap(\.publicKeyPins)),
            ] where !path.contains(where: { pins.contains($0.certificatePin) || pins.contains($0.publicKeyPin) }) {
                return verdict("no \(kind) of its path is among those of \(name)", decision)
            }
            return verdict(nil, decision)
        }
    }

    private func verdict(_ problem: String?, _ decision: TrustDecision) -> Verdict {
        var days: Int?
        var problem = problem
        if case .trustServer(let document) = content {
            let settings = OnlinePinningSettings()
            let end = document.timestamp.addingTimeInterval((settings.maxAge + settings.grace).inSeconds)
            days = CertificateReport.days(until: end, from: decision.time)
            if end < decision.time { problem = problem ?? "\(name) is too old for clients" }
        }
        let isLockedOut = problem != nil || !decision.isTrusted
        return Verdict(
            isLockedOut: isLockedOut,
            text: problem ?? (isLockedOut ? "clients with \(name) are locked out" : "\(name) lets clients in"),
            documentDaysLeft: days)
    }

    /// As a store finds them: those of the first name of the host that has one which has not expired.
    private func listed(_ host: DialledHost, at time: Date) -> [FingerprintEntry] {
        guard case .list(let entries) = content else { return [] }
        let usable = entries.filter { $0.expires >= time.wholeSeconds }
        for name in FingerprintEntry.names(for: host) {
            let named = usable.filter { ASCIIText.lowercased($0.name).elementsEqual(name.utf8) }
            if !named.isEmpty { return named }
        }
        return []
    }

    private func entries(of host: DialledHost) -> [TrustServerEntry] {
        guard case .trustServer(let document) = content else { return [] }
        return document.entries.filter {
            ASCIIText.lowercased($0.hostname).elementsEqual(host.name.utf8) && ($0.port == nil || $0.port == host.port)
        }
    }
}
