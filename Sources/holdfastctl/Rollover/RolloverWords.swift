import Foundation
import Holdfast
import HoldfastPublishing

/// The words in which advice is given.
struct RolloverWords {
    private let situation: RolloverSituation
    /// The document's name as it was given.
    let document: String
    private let host: String

    init(_ situation: RolloverSituation, document: String, host: String) {
        self.situation = situation
        self.document = document
        self.host = host
    }

    private var pinsCertificates: Bool { situation.pinsCertificates }

    /// What is pinned.
    var thing: String { pinsCertificates ? "certificate" : "key" }

    /// How long clients use an older document.
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
        let file = ForeignFile.quoted(document)
        return pinsCertificates
            ? "holdfastctl sign next.pem --key signer.pem --list \(file)"
            : "holdfastctl keygen --tls \(host) -o \(host).next.key, and add its pin to \(file)"
    }

    /// How the pins of these are published beside the others.
    func adding(_ identities: [Int]) -> String {
        let file = ForeignFile.quoted(document)
        guard pinsCertificates else { return "add the pin to \(file), and publish that" }
        let sources = identities.map { identity in
            situation.servers.contains { $0.shows == identity }
                ? host : ForeignFile.quoted(situation.identities[identity].name)
        }
        return "holdfastctl sign \(sources.joined(separator: " ")) --key signer.pem --list \(file), and publish that"
    }

    var preparing: String {
        if situation.servers.contains(where: { situation.identities[$0.shows].isRetiring }) {
            return "a server shows what is to be withdrawn, and nothing is published that could take its place"
        }
        return pinsCertificates
            ? "the list has no \(thing) that follows; clients need it \(span) before the one in use ends"
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
        let digests = identities.map { situation.identities[$0].digest }
        return pinsCertificates
            ? "holdfastctl list remove \(ForeignFile.quoted(document)) \(digests.joined(separator: " ")) "
                + "--public-key signer.pub"
            : "take it out of \(document), and publish that"
    }

    /// Why clients are refused now.
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
