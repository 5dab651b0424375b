import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// One round of a trust server: it asks the hosts, decides, signs, verifies and replaces the document.
struct TrustServerPublication: Sendable {
    let customer: String
    let key: TrustServerKey
    let files: TrustServerFiles
    /// The list of hosts. If it cannot be read, the hosts of the last round are asked.
    let hosts: Result<[DialedHost], CommandFailure>
    /// The backups. If they cannot be read, those of the last round are published.
    let backups: Result<TrustServerBackups, CommandFailure>
    /// The rules for every round; the backups are added later.
    let rules: PublishingRound.Rules
    let hostsAtOnce: Int
    let clock: any WallClock
    let gate: StopGate
    /// Reports problems that do not end the round.
    var complain: @Sendable (String) -> Void = { Output.standard.complain($0) }
    /// Asks one host, in bounded time.
    let ask: @Sendable (DialedHost) async -> PublishingRound.Answer

    /// The outcome of a round.
    struct Report {
        let round: PublishingRound
        /// How many hosts the document has that was written; nil if none was written.
        var published: Int?
        /// Whether the previous content was published again, because nothing new could be published.
        var isRepeated: Bool
        /// Whether a file could not be read or written.
        var isImpaired: Bool
        /// Whether signing again was all that was requested.
        var isResigned = false

        /// The exit code; nil if all is well. Anything untrusted or unsigned outweighs what could not be found out.
        var status: CommandFailure.Status? {
            let isWaiting = round.held.contains { !$0.isApproved }
            if isRepeated || isWaiting || round.failures.contains(where: \.isUntrusted) { return .negativeAnswer }
            return isImpaired || !round.failures.allSatisfy(\.isHarmless) ? .couldNotFindOut : nil
        }
    }

    func run() async throws(CommandFailure) -> Report {
        let ask = ask
        let answers = await SideBySide.map(try hostsToAsk(), atMost: hostsAtOnce) { (host: $0, answer: await ask($0)) }
        let now = clock.now
        // What another command has learned in the meantime must not be lost. So the memory is locked from reading to
        // writing.
        let lock = try ChangeLock.on(files.memory, for: files.memory.path)
        defer { withExtendedLifetime(lock) {} }
        let found = files.readMemory()
        let memory = recalled(found, at: now)
        if let problem = found.problem {
            complain(problem)
        } else if found.isLost, !memory.hosts.isEmpty {
            complain(
                "\(files.memory.path) is not there; every pin of the published document counts as seen when it was made"
            )
        }
        let rules = rules(memory)
        let round = PublishingRound(
            answers, earlier: memory.hosts, held: memory.held, rules: rules, at: now)
        let (data, isRepeated) = try document(of: round, at: now)
        var report = Report(
            round: round, isRepeated: isRepeated,
            isImpaired: found.problem != nil || hosts.isFailure || backups.isFailure)
        _ = try gate.write { () throws(CommandFailure) in
            guard try isNewest(now, hasDocument: data != nil) else { return }
            do throws(CommandFailure) {
                let hosts = isRepeated ? round.rememberedOfPrevious : round.remembered
                if found.isReplaceable {
                    try files.write(PublishingMemory(hosts: hosts, backups: rules.backups, held: round.held))
                }
            } catch {
                // Without a memory the next round knows less; but without a document clients trust nobody.
                complain("\(error.message); the next round knows nothing of this one")
                report.isImpaired = true
            }
            guard let data else { return }
            try files.publish(data)
            report.published = isRepeated ? round.previous.count : round.hosts.count
        }
        return report
    }

    /// Signs the published document again with the current time, and asks no host.
    func resign() throws(CommandFailure) -> Report {
        let now = clock.now
        let lock = try ChangeLock.on(files.memory, for: files.memory.path)
        defer { withExtendedLifetime(lock) {} }
        guard let document = files.published(customer: customer, key: key), !document.entries.isEmpty else {
            throw CommandFailure(
                .unreadableFile,
                "\(files.document.path) is no document of this key and customer, so there is nothing "
                    + "to sign again")
        }
        // Signing an old document again could bring back pins that were withdrawn since.
        guard document.counts(at: now) else {
            throw CommandFailure(
                .notSigned,
                "\(files.document.path) is so old that clients do not use it any more, and is not signed again: publish "
                    + "without --resign-only, which uses what was remembered if a host cannot be asked")
        }
        let data: Data
        do throws(SigningError) {
            data = try sign(document.entries, at: now)
        } catch {
            throw CommandFailure(.notSigned, "nothing is signed again: \(error)")
        }
        var report = Report(
            round: PublishingRound([], earlier: [], rules: rules, at: now), isRepeated: false,
            isImpaired: false, isResigned: true)
        _ = try gate.write { () throws(CommandFailure) in
            guard try isNewest(now, hasDocument: true) else { return }
            try files.publish(data)
            report.published = document.entries.count
        }
        return report
    }

    /// The memory to use. A lost memory must not cut the overlap short: the pins that clients use now are in the
    /// document that is about to be replaced.
    private func recalled(_ found: TrustServerFiles.FoundMemory, at time: Date) -> PublishingMemory {
        guard found.isLost, let document = files.published(customer: customer, key: key), document.counts(at: time)
        else { return found.memory }
        return PublishingMemory(
            hosts: document.hosts(at: time), backups: found.memory.backups, held: found.memory.held)
    }

    private func hostsToAsk() throws(CommandFailure) -> [DialedHost] {
        guard case .failure(let error) = hosts else { return try hosts.get() }
        let known = recalled(files.readMemory(), at: clock.now).hosts.compactMap {
            try? DialedHost($0.hostname, port: $0.port)
        }
        guard !known.isEmpty else { throw error }
        complain("\(error.message); the hosts of the last round are asked")
        return known
    }

    private func rules(_ memory: PublishingMemory) -> PublishingRound.Rules {
        var rules = rules
        switch backups {
        case .success(let backups): rules.backups = backups
        case .failure(let error):
            complain("\(error.message); the backups of the last round are published")
            rules.backups = memory.backups
        }
        return rules
    }

    // MARK: Document

    /// The document to publish, and whether it has the previous content; nil if there is nothing to publish.
    private func document(
        of round: PublishingRound, at time: Date
    ) throws(CommandFailure) -> (data: Data?, isRepeated: Bool) {
        guard round.isPublishable else { return (nil, round.isHeld) }
        do throws(SigningError) {
            return (try sign(round.hosts, at: time), round.isHeld)
        } catch {
            let failure = CommandFailure(.notSigned, "nothing new is published: \(error)")
            // Clients would refuse the new content, for example because it is too large, but they accepted the previous
            // one.
            guard !round.isHeld, !round.previous.isEmpty, let data = try? sign(round.previous, at: time) else {
                throw failure
            }
            complain(failure.message)
            return (data, true)
        }
    }

    private func sign(_ hosts: [TrustServerHost], at time: Date) throws(SigningError) -> Data {
        try TrustServerDraft(customer: customer, hosts: hosts, timestamp: time).signed(by: key)
    }

    /// Whether the published document is not newer than this round, or was made far in the future. If clients accepted
    /// such a document, their time is at most a day ahead (``TrustServerStore``).
    /// - Throws: if the document is only a little in the future: clients that have it would refuse an older one.
    private func isNewest(_ time: Date, hasDocument: Bool) throws(CommandFailure) -> Bool {
        guard let published = files.published(customer: customer, key: key)?.timestamp, published > time
        else {
            return true
        }
        let made = "\(files.document.path) was made at \(published.formatted(.iso8601))"
        // Time has passed since the round if this command waited for another one.
        let ahead = published.timeIntervalSince(clock.now)
        if ahead > 300 {
            if hasDocument {
                complain(
                    "\(made), and it is \(time.formatted(.iso8601)): clients that took it refuse "
                        + "other documents for a day at most, and it is replaced")
            }
            return true
        }
        guard ahead > 0 else {
            complain("\(made) by another command, after this round")
            return false
        }
        throw CommandFailure(
            .notSigned,
            "\(made), which is in the future: clients would refuse an older one. Check the clock of this machine.")
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
