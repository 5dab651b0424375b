import Foundation
import Holdfast
import HoldfastSigning

/// Evaluates the effect of a round on every client in the field, at the servers that the round validated: with the
/// document of the round, with those that it and earlier rounds replaced, and with the documents in builds.
struct RoundOutlook {
    /// The problems for clients.
    struct Answer {
        /// The hosts whose clients are locked out, each once.
        var refusals: [TrustServerPublisher.Refusal] = []
        /// The facts that are unknown, one sentence each.
        var unknown: [String] = []
        /// The cases in which clients can connect only by grace, one sentence each.
        var ending: [String] = []
    }

    private let customer: String
    private let key: TrustServerKey
    private let answers: [(host: DialedHost, answer: PublishingRound.Answer)]

    init(
        _ answers: [(host: DialedHost, answer: PublishingRound.Answer)], of customer: String,
        signedBy key: TrustServerKey
    ) {
        self.answers = answers
        self.customer = customer
        self.key = key
    }

    /// Evaluates a round. Hosts that it could not validate are among its own failures, and are not repeated here.
    /// - Parameters:
    ///   - document: the document that the round publishes.
    ///   - earlier: the documents of clients that have not fetched since.
    ///   - clients: the other facts about clients.
    /// - Throws: ``PublishingError`` `invalidInput` if the inputs exceed the limits of an outlook.
    func answer(
        to document: Data, after earlier: EarlierDocuments, of clients: RoundClients, at now: Date
    ) throws(PublishingError) -> Answer {
        let hosts = answers.map { host, answer in
            PublicationOutlook.Host(
                host.name, port: host.port,
                shown: answer.paths.isEmpty
                    ? [.init(unreadable: host.name, because: "the round did not validate it")]
                    : answer.paths.map { path in
                        .init(path.certificates.map { Data($0.der) }, at: host.name, seen: now)
                    })
        }
        guard answers.contains(where: { !$0.answer.paths.isEmpty }) else { return Answer() }
        let current = PublicationOutlook.Document(
            "the document", kind: .trustServer(signer: key.certificate, customer: customer), octets: document,
            published: now)
        // Future problems are reported by the status command, which is run less often.
        let outlook = try HostsOutlook(
            of: [current] + clients.shipped, after: earlier, at: hosts,
            platforms: clients.platforms.isEmpty ? [ownPlatform] : clients.platforms,
            appVersions: clients.appVersions, staleness: clients.staleness, lookingAhead: .seconds(1), at: now)
        let dialed = Dictionary(zip(hosts.map(HostsOutlook.name), answers)) { first, _ in first }
        var result = Answer()
        for finding in outlook.findings {
            let asked = finding.host.flatMap { dialed[$0] }
            if let asked, asked.answer.paths.isEmpty { continue }
            switch finding.kind {
            case .refused:
                guard let host = asked?.host, !result.refusals.contains(where: { $0.host == host }) else { continue }
                result.refusals.append(.init(host: host, reason: finding.text))
            case .unreachable: result.unknown.append(finding.text)
            case .ending: result.ending.append(finding.text)
            }
        }
        return result
    }

    /// The anchors under which the hosts were validated.
    private var ownPlatform: PublicationOutlook.Platform {
        var anchors: [Data] = []
        var known: Set<X509Certificate> = []
        for anchor in answers.flatMap(\.answer.paths).compactMap(\.anchor) where known.insert(anchor).inserted {
            anchors.append(Data(anchor.der))
        }
        return .init("the authorities of the hosts", anchors: anchors)
    }
}
