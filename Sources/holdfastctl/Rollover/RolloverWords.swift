import Foundation
import Holdfast
import HoldfastPublishing

/// The text of advice.
struct RolloverWords {
    /// A published document.
    struct Document: Hashable, Sendable {
        let name: String
        /// The source from which clients get it.
        let source: RolloverDocument.Source
        /// Whether it is a repository whose root ends before its pins.
        var endsWithRoot = false

        /// The name of the file that is written, quoted.
        fileprivate var file: String { ForeignFile.quoted(name) }

        /// The list of clients with challenges; a server sends it, and has a separate file.
        fileprivate var list: String { source == .challengedList && name.contains("://") ? "pins.json" : file }
        fileprivate var sending: String { source == .challengedList ? ", and let the server send that list" : "" }
    }

    private let situation: RolloverSituation
    /// The documents, each once: apps with other roots get the same repository.
    private let documents: [Document]
    private let host: String

    init(_ situation: RolloverSituation, documents: [Document], host: String) {
        self.situation = situation
        var once: [Document] = []
        for document in documents where !once.contains(document) { once.append(document) }
        self.documents = once
        self.host = host
    }

    /// The documents' names.
    var document: String { documents.map(\.name).joined(separator: " and ") }

    /// The steps for all documents.
    private func each(_ words: (Document) -> String) -> String { documents.map(words).joined(separator: "; and ") }

    private var pinsCertificates: Bool { situation.pinsCertificates }

    /// The noun for pinned identities.
    var thing: String { pinsCertificates ? "certificate" : "key" }

    /// The time that clients use an older document.
    var span: String {
        guard let staleness = situation.staleness else { return "an unknown time" }
        let hours = Int(min(staleness.inSeconds, 1e9) / 3_600)
        switch hours {
        case ..<1: return "less than an hour"
        case 1: return "an hour"
        case ..<48: return "\(hours) hours"
        default: return "\(hours / 24) days"
        }
    }

    var publishing: String {
        each { document in
            switch document.source {
            case .pinFile:
                "holdfastctl keygen --tls \(host) -o \(host).next.key, and add its pin to \(document.file)"
            case .list, .challengedList:
                "holdfastctl sign next.pem --key signer.pem --list \(document.list)" + document.sending
            case .repository:
                "holdfastctl keygen --tls \(host) -o \(host).next.key, add its pin to the repository's pin file, and "
                    + Self.publishingRepository
            case .trustServer: "holdfastctl trust-server publish with --backup next.pem"
            }
        }
    }

    /// The steps to publish the pins of identities in addition to the others.
    func adding(_ identities: [Int]) -> String {
        each { document in
            switch document.source {
            case .pinFile: return "add the pin to \(document.file), and publish that"
            case .repository: return "add the pin to the repository's pin file, and " + Self.publishingRepository
            case .list, .challengedList:
                let sources = identities.map { isShown($0) ? host : name(of: $0) }
                return "holdfastctl sign \(sources.joined(separator: " ")) --key signer.pem --list \(document.list)"
                    + (document.sending.isEmpty ? ", and publish that" : document.sending)
            case .trustServer:
                // A round adds the keys that servers present.
                let backups = identities.filter { !isShown($0) }.map { " --backup \(name(of: $0))" }
                return "holdfastctl trust-server publish" + (backups.isEmpty ? "" : " with\(backups.joined())")
            }
        }
    }

    /// The steps to give expiring pins a later end.
    var renewing: String {
        each { document in
            switch document.source {
            case .pinFile, .list: "set a later end in \(document.name), and publish it"
            case .challengedList: "set a later end in the list" + document.sending
            case .repository where document.endsWithRoot:
                "holdfastctl repository rotate with --role root, sign and publish it"
            case .repository: "set a later end in the repository's pin file, and " + Self.publishingRepository
            case .trustServer: "run its rounds again: holdfastctl trust-server publish with --every 5m"
            }
        }
    }

    /// The noun for the expiring part: the root or the pins.
    var renewed: String { documents.allSatisfy(\.endsWithRoot) ? "root" : "pins" }

    /// The reason for a later end.
    /// - Parameter isLate: whether it ends before every client can have its replacement.
    func ending(isLate: Bool) -> String {
        let subject =
            documents.allSatisfy(\.endsWithRoot)
            ? "the root of the repository ends, without which apps that begin get no pins," : "the pins of a server end"
        return isLate
            ? "\(subject) before every client can have others"
            : "\(subject) \(span) later, and clients need that long to get the next document"
    }

    private static let publishingRepository = "holdfastctl repository pins, sign and publish it"

    private func isShown(_ identity: Int) -> Bool { situation.servers.contains { $0.shows == identity } }
    private func name(of identity: Int) -> String { ForeignFile.quoted(situation.identities[identity].name) }

    var preparing: String {
        if situation.servers.contains(where: { situation.identities[$0.shows].isRetiring }) {
            return "a server shows what is to be withdrawn, and nothing is published that could take its place"
        }
        return pinsCertificates
            ? "the published document has no \(thing) that follows; clients need it \(span) before the one in use ends"
            : "no valid certificate of a published key is known"
    }

    func waiting(until date: Date?) -> String {
        if let next = situation.next {
            let name = situation.identities[next].name
            return date == nil
                ? "clients with an older document would refuse \(name), and nothing says how long they use it"
                : "clients with an older document, which they use for \(span), would refuse \(name)"
        }
        return "the published pins suffice until then; name what will be deployed with --next to change earlier"
    }

    func deploying(before date: Date?) -> String {
        "every client has its pin" + (date == nil ? "" : "; what is served now ends")
    }

    func removing(_ identities: [Int]) -> String {
        let digests = identities.map { situation.identities[$0].digest }.joined(separator: " ")
        return each { document in
            switch document.source {
            case .pinFile: return "take it out of \(document.name), and publish that"
            case .repository: return "take it out of the repository's pin file, and " + Self.publishingRepository
            case .list, .challengedList:
                return "holdfastctl list remove \(document.list) \(digests) --public-key signer.pub" + document.sending
            case .trustServer:
                return "holdfastctl trust-server publish with --overlap 0s, and without --backup for it"
            }
        }
    }

    /// The reason why clients are refused now.
    func refusal(_ refusal: RolloverSituation.Refusal) -> String {
        let server = situation.servers[refusal.server]
        let shown = situation.identities[server.shows]
        guard !refusal.clients.isEmpty else { return "\(server.name) shows a chain that is not valid" }
        let documents = refusal.clients.map { situation.clients[$0].document }.joined(separator: ", ")
        return "clients with \(documents) refuse \(server.name): no published pin is in its chain, "
            + "whose \(thing) is \(shown.pinText)"
    }

    func clients(_ loss: RolloverAdvice.Loss) -> RolloverReport.Clients {
        .init(
            document: situation.clients[loss.clients].document,
            servers: loss.servers.map { situation.servers[$0].name },
            from: loss.start.formatted(.iso8601), until: loss.end?.formatted(.iso8601))
    }
}
