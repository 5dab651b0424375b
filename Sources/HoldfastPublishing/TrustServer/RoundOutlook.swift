import Foundation
import Holdfast
import HoldfastSigning

/// Asks the judge of a publication what the document of a round means for clients, at the servers that the round validated.
struct RoundOutlook {
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

    /// The hosts that clients with a document refuse, each once.
    /// - Throws: ``PublishingError`` `invalidInput` if there is more than an outlook judges.
    func refusals(of document: Data, at now: Date) throws(PublishingError) -> [TrustServerPublisher.Refusal] {
        let validated = answers.filter { !$0.answer.paths.isEmpty }
        guard !validated.isEmpty else { return [] }
        var anchors: [Data] = []
        var known: Set<X509Certificate> = []
        for anchor in validated.flatMap(\.answer.paths).compactMap(\.anchor) where known.insert(anchor).inserted {
            anchors.append(Data(anchor.der))
        }
        let outlook = try PublicationOutlook(
            judging: .init(
                documents: [
                    .init(
                        "the document", kind: .trustServer(signer: key.certificate, customer: customer),
                        octets: document, published: now)
                ],
                hosts: validated.map { host, answer in
                    .init(
                        host.name, port: host.port,
                        shown: answer.paths.map { path in
                            .init(path.certificates.map { Data($0.der) }, at: host.description, seen: now)
                        })
                },
                platforms: [.init("the authorities of the hosts", anchors: anchors)],
                appVersions: .noShippedPins, span: .seconds(1), now: now))
        var seen: Set<Int> = []
        return outlook.rows.compactMap { row in
            guard row.verdict == .out, let index = row.hostIndex, seen.insert(index).inserted else { return nil }
            return .init(host: validated[index].host, reason: row.cause?.words ?? "")
        }
    }
}
