package import Foundation
package import Holdfast

/// The pins of a verified list as a client would use them, for tools that check if the client could connect.
package struct FingerprintListPins: PinSource {
    private let snapshot: StoreSnapshot
    private let configuration = CertStoreConfiguration(serviceURL: URL(filePath: "/"), publicKey: "")

    /// The pins of a list.
    package init(_ list: FingerprintList) { self.init(StoreContent(list)) }

    /// The pins of an answer to a challenge.
    package init(_ response: ChallengeResponse) { self.init(StoreContent(response)) }

    private init(_ content: StoreContent) {
        snapshot = StoreSnapshot(
            document: DocumentSnapshot(content: content, trustedTime: TrustedTime()), fallback: .empty)
    }

    /// The first instant at which all entries have expired; nil without entries.
    package var end: Date? { snapshot.table.latestEnd.map(Date.init(wholeSeconds:)) }

    /// Why a client that holds this list keeps it when it is served another at a time; nil if it takes the other.
    package func refusal(of new: FingerprintListPins, at time: Date) -> DocumentError? {
        do throws(DocumentError) {
            try new.snapshot.content?.checkReplaces(
                snapshot.content, at: time.wholeSeconds, acceptingLoss: configuration.acceptsLossOfPins)
            return nil
        } catch {
            return error
        }
    }

    package func answer(to question: PinQuestion) -> PinAnswer {
        PinAnswer(snapshot.content(for: question, under: configuration, at: question.time), at: question.time)
    }

    /// Whether the list has an entry for a host, or a wildcard that covers it, expired or not.
    func names(_ host: DialedHost) -> Bool {
        guard case .none(.notCovered, _) = answer(to: PinQuestion(host: host, time: .distantPast)).content else {
            return true
        }
        return false
    }

    package var mayAdmitWithoutPins: Bool { false }
}
