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
        let lock = try FolderLock(on: files.remembered.deletingLastPathComponent(), for: files.remembered.path)
        defer { lock.release() }
        var published: Int?
        _ = try gate.write { () throws(CommandFailure) in
            switch try obstacle(at: now) {
            case .newer(let time):
                Output.standard.complain(
                    "\(files.document.path) was made at \(time.formatted(.iso8601)) by another command, after this round"
                )
                return
            case .future(let time) where data != nil:
                Output.standard.complain(
                    "\(files.document.path) was made at \(time.formatted(.iso8601)), and it is "
                        + "\(now.formatted(.iso8601)): clients that took it refuse other documents for a day at most, and it is replaced"
                )
            case .future, nil: break
            }
            try files.remember(round.remembered)
            guard let data else { return }
            try files.publish(data)
            published = round.hosts.count
        }
        return Report(round: round, published: published)
    }

    /// A published document that was made after a round.
    private enum Obstacle {
        /// Another command was faster.
        case newer(Date)
        /// It was made far in the future. Clients that took it count a day of that at most (``TrustServerStore``).
        case future(Date)
    }

    /// - Parameter time: that of the round.
    /// - Throws: where time will soon have reached the document of the future: clients would refuse an older one.
    private func obstacle(at time: Date) throws(CommandFailure) -> Obstacle? {
        guard let published = files.publishedTimestamp(customer: customer, key: key), published > time else {
            return nil
        }
        // Time has passed since the round if another command was waited for.
        let ahead = published.timeIntervalSince(clock.now)
        if ahead > 300 { return .future(published) }
        guard ahead > 0 else { return .newer(published) }
        throw CommandFailure(
            .notSigned,
            "\(files.document.path) was made at \(published.formatted(.iso8601)), which is in the future: clients "
                + "would refuse an older one. Check the clock of this machine.")
    }
}
