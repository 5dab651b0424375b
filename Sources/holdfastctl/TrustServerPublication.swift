import Foundation
import Holdfast
import HoldfastSigning

/// One round of a trust server: ask the hosts, decide, sign, verify, replace.
struct TrustServerPublication: Sendable {
    let customer: String
    let key: TrustServerKey
    let files: TrustServerFiles
    let rules: PublishingRound.Rules
    let hostsAtOnce: Int
    let clock: any WallClock
    let gate: StopGate
    /// Asks one host; it answers in bounded time.
    let ask: @Sendable (DialledHost) async -> PublishingRound.Answer

    /// What came of a round.
    struct Report {
        let round: PublishingRound
        /// Hosts of the document that was written; nil when none was.
        let published: Int?

        /// A host that is not trusted outweighs one that could not be asked; nil where all is well.
        var status: CommandFailure.Status? {
            if round.failures.contains(where: \.isUntrusted) { return .negativeAnswer }
            return round.failures.isEmpty ? nil : .couldNotFindOut
        }
    }

    func run() async throws(CommandFailure) -> Report {
        let hosts = try files.readDomains()
        let earlier = try files.readRemembered()
        let ask = ask
        let answers = await SideBySide.map(hosts, atMost: hostsAtOnce) { (host: $0, answer: await ask($0)) }
        let now = clock.now
        let round = PublishingRound(
            answers, earlier: earlier, rules: rules, at: Int64(now.timeIntervalSince1970.rounded(.down)))
        if let published = files.publishedTimestamp(customer: customer, key: key), published > now {
            throw CommandFailure(
                .notSigned,
                "\(files.document.path) was made at \(published.formatted(.iso8601)), which is in the future: clients "
                    + "would refuse an older one. Check the clock of this machine.")
        }
        var data: Data?
        if round.isPublishable {
            do throws(SigningError) {
                let draft = try TrustServerDraft(
                    customer: customer, hosts: round.hosts, timestamp: Int64(now.timeIntervalSince1970.rounded(.down)))
                data = try draft.signed(by: key)
            } catch {
                throw CommandFailure(.notSigned, "nothing is published: \(error)")
            }
        }
        let wrote = try gate.write { () throws(CommandFailure) in
            try files.remember(round.remembered)
            if let data { try files.publish(data) }
        }
        return Report(round: round, published: wrote && data != nil ? round.hosts.count : nil)
    }
}
