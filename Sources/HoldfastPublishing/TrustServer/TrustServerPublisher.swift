public import Foundation
public import Holdfast
public import HoldfastSigning

/// Publishes the rounds of a trust server: decides the changes from the hosts' answers, signs the result, reads it as a
/// client does, and replaces the document.
///
/// ```swift
/// let publisher = TrustServerPublisher(customer: "acme", key: key, storage: storage, rules: rules, clock: clock)
/// let report = try await publisher.publish(answers, backups: backups, at: clock.now)
/// ```
/// It makes no connections. If a round fails with `changedMeanwhile`, another round was published at the same time:
/// call it again with the same answers.
public struct TrustServerPublisher: Sendable {
    /// The customer that owns the hosts.
    public let customer: String
    /// The key that signs.
    public let key: TrustServerKey
    /// The storage of the document and of the memory of earlier rounds.
    public let storage: any PublicationStorage
    /// The rules for every round. The backups are given with each round.
    public let rules: PublishingRound.Rules
    /// Provides the time of a round.
    public let clock: any WallClock
    /// Prevents new writes while the program is stopping.
    public let gate: StopGate
    /// Receives problems that do not end the round, as text.
    private let complain: @Sendable (String) -> Void

    /// Collects the parts that a round needs. It reads nothing yet.
    public init(
        customer: String, key: TrustServerKey, storage: any PublicationStorage,
        rules: PublishingRound.Rules = PublishingRound.Rules(), clock: any WallClock = SystemWallClock(),
        gate: StopGate = StopGate(), complain: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.customer = customer
        self.key = key
        self.storage = storage
        self.rules = rules
        self.clock = clock
        self.gate = gate
        self.complain = complain
    }

    /// A host that clients refuse, although the round validated its chain.
    public struct Refusal: Sendable, Hashable {
        /// The host.
        public let host: DialedHost
        /// The clients that refuse it and the reason, as text that names the host.
        public let reason: String
    }

    /// The outcome of a round.
    public struct Report: Sendable {
        /// The decisions of the round.
        public let round: PublishingRound
        /// The number of hosts in the document that was written; nil if none was written.
        public internal(set) var published: Int?
        /// Whether the previous content was published again, because nothing new could be published.
        public let isRepeated: Bool
        /// Whether something could not be read or written.
        public internal(set) var isImpaired: Bool
        /// The hosts whose clients are locked out, according to ``PublicationOutlook``: for example a host with a
        /// certificate that documents of earlier rounds lack.
        public internal(set) var refusals: [Refusal] = []
        /// Unknown facts about clients, one sentence each, such as the documents in builds.
        public internal(set) var unknown: [String] = []
        /// The cases in which clients can connect only by grace, one sentence each.
        public internal(set) var ending: [String] = []
        /// Whether only signing again was requested.
        public let isResigned: Bool

        /// Whether a host is not trusted, too many changed, or clients are locked out.
        public var isNegative: Bool {
            isRepeated || round.failures.contains(where: \.isUntrusted) || !refusals.isEmpty
        }

        /// Whether a host could not be probed, something could not be read or written, or it is unknown if clients can
        /// connect.
        public var isIncomplete: Bool {
            isImpaired || !unknown.isEmpty || !round.failures.allSatisfy(\.isHarmless)
        }

        mutating func take(_ answer: RoundOutlook.Answer) {
            (refusals, unknown, ending) = (answer.refusals, answer.unknown, answer.ending)
        }
    }

    // MARK: Rounds

    /// The hosts that earlier rounds remember, for a caller that cannot read its list. An unreadable memory gives no
    /// hosts.
    public func rememberedHosts() async -> [DialedHost] {
        await recalled(await foundMemory(), at: clock.now).hosts.compactMap {
            try? DialedHost($0.hostname, port: $0.port)
        }
    }

    /// Publishes a round.
    /// - Parameters:
    ///   - answers: each host of the list once, with its answer.
    ///   - backups: the pins that every host gets in addition to its own; nil for those of the last round, because they
    ///     cannot be read.
    ///   - clients: the facts about clients. If the builds in the field are unknown, the report is incomplete.
    ///   - isImpaired: whether the caller could not read something.
    ///   - now: when the answers were complete. Take it before any wait: if another round has published since, its
    ///     document is newer and is kept.
    /// - Throws: ``PublishingError`` `notSigned` if nothing was signed, `unreadable`, `unwritable`, `changedMeanwhile`.
    public func publish(
        _ answers: [(host: DialedHost, answer: PublishingRound.Answer)], backups: TrustServerBackups?,
        of clients: RoundClients = RoundClients(), isImpaired: Bool = false, at now: Date
    ) async throws(PublishingError) -> Report {
        let found = await foundMemory()
        let memory = await recalled(found, at: now)
        if let problem = found.problem {
            complain(problem)
        } else if found.isLost, !memory.hosts.isEmpty {
            complain(
                "\(memoryPath) is not there; every pin of the published document counts as seen when it was made")
        }
        var rules = rules
        rules.backups = backups ?? memory.backups
        let round = PublishingRound(
            answers, earlier: memory.hosts, rules: rules, at: now)
        let (data, isRepeated) = try document(of: round, at: now)
        var report = Report(
            round: round, isRepeated: isRepeated, isImpaired: found.problem != nil || isImpaired, isResigned: false)
        let hosts = isRepeated ? round.previous : round.hosts
        var answer = RoundOutlook.Answer()
        if let data {
            do throws(PublishingError) {
                answer = try RoundOutlook(answers, of: customer, signedBy: key).answer(
                    to: data, after: await earlier(than: hosts, of: clients, at: now), of: clients, at: now)
            } catch {
                complain("nobody knows whether clients get in: \(error)")
                report.isImpaired = true
            }
        }
        guard gate.enter() else { return report }
        defer { gate.leave() }
        let published = await publishedDocument()
        guard try isNewest(now, published.document, hasDocument: data != nil) else { return report }
        do throws(PublishingError) {
            let hosts = isRepeated ? round.rememberedOfPrevious : round.remembered
            if found.isReplaceable {
                try await write(
                    PublishingMemory(hosts: hosts, backups: rules.backups), insteadOf: found.data)
            }
        } catch  where error.code != .changedMeanwhile {
            // Without a memory the next round knows less; but without a document clients trust no server.
            complain("\(memoryPath) cannot be written: \(error.found); the next round knows nothing of this one")
            report.isImpaired = true
        }
        guard let data else { return report }
        report.take(answer)
        if let old = published.data, let document = published.document, !document.pinsTheSame(as: hosts) {
            if await !note(old, replaced: now) { report.isImpaired = true }
        } else {
            // If this file is missing later, it is known to be lost.
            let nothing = try? ReplacedDocuments().data
            _ = try? await storage.replace(TrustServerPath.replaced(of: customer), nil, with: nothing)
        }
        try await write(data, to: documentPath, insteadOf: published.data)
        report.published = hosts.count
        return report
    }

    /// Signs the published document again with the current time, without any answer of a host.
    /// - Parameter now: the current time, taken before any wait.
    /// - Throws: ``PublishingError`` `unreadable` without a document of this key and customer; `notSigned` if clients
    ///   no longer use it.
    public func resign(at now: Date) async throws(PublishingError) -> Report {
        let published = await publishedDocument()
        guard let document = published.document, !document.entries.isEmpty else {
            throw PublishingError(
                .unreadable, of: documentPath, expected: "a document of this key and customer",
                found: "none, so there is nothing to sign again")
        }
        // Re-signing an old document could restore pins that were withdrawn since.
        guard document.counts(at: now) else {
            throw PublishingError(
                .notSigned, of: documentPath, expected: "a document that clients still use",
                found: "one that was made at \(document.timestamp.formatted(.iso8601)), which is not signed again",
                remedy: "Publish a round, which uses what was remembered if a host cannot be asked.")
        }
        let data: Data
        do throws(SigningError) {
            data = try sign(document.entries, at: now)
        } catch {
            throw PublishingError(
                .notSigned, of: documentPath, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        var report = Report(
            round: PublishingRound([], earlier: [], rules: rules, at: now), isRepeated: false,
            isImpaired: false, isResigned: true)
        guard gate.enter() else { return report }
        defer { gate.leave() }
        guard try isNewest(now, document, hasDocument: true) else { return report }
        try await write(data, to: documentPath, insteadOf: published.data)
        report.published = document.entries.count
        return report
    }

    // MARK: Document

    /// The document to publish, and whether it has the previous content; nil if there is nothing to publish.
    private func document(
        of round: PublishingRound, at time: Date
    ) throws(PublishingError) -> (data: Data?, isRepeated: Bool) {
        guard round.isPublishable else { return (nil, round.isHeld) }
        do throws(SigningError) {
            return (try sign(round.hosts, at: time), round.isHeld)
        } catch {
            // Clients would refuse the new content, for example because it is too large, but they accepted the previous
            // content.
            guard !round.isHeld, !round.previous.isEmpty, let data = try? sign(round.previous, at: time) else {
                throw PublishingError(
                    .notSigned, of: documentPath, expected: error.expected, found: error.found, remedy: error.remedy)
            }
            complain("nothing new is published: \(error)")
            return (data, true)
        }
    }

    private func sign(_ hosts: [TrustServerHost], at time: Date) throws(SigningError) -> Data {
        try TrustServerDraft(customer: customer, hosts: hosts, timestamp: time).signed(by: key)
    }

    /// Whether the published document is not newer than this round, or was made far in the future. If clients accepted
    /// such a document, their time is at most a day ahead (``TrustServerStore``).
    /// - Throws: if the document is only a little in the future: clients that have it would refuse an older one.
    private func isNewest(
        _ time: Date, _ document: PublishedDocument?, hasDocument: Bool
    ) throws(PublishingError) -> Bool {
        guard let published = document?.timestamp, published > time else { return true }
        let made = "was made at \(published.formatted(.iso8601))"
        // If this round waited for another, time has passed since.
        let ahead = published.timeIntervalSince(clock.now)
        if ahead > 300 {
            if hasDocument {
                complain(
                    "\(documentPath) \(made), and it is \(time.formatted(.iso8601)): clients that took it refuse "
                        + "other documents for a day at most, and it is replaced")
            }
            return true
        }
        guard ahead > 0 else {
            complain("\(documentPath) \(made) by another command, after this round")
            return false
        }
        throw PublishingError(
            .notSigned, of: documentPath, expected: "a document that was made before now",
            found: "one that \(made), which is in the future: clients would refuse an older one",
            remedy: "Check the clock of this machine.")
    }

    // MARK: Storage

    private var memoryPath: String { TrustServerPath.memory(of: customer) }
    private var documentPath: String { TrustServerPath.document(of: customer) }

    private func foundMemory() async -> TrustServerMemory {
        await TrustServerMemory(of: customer, in: storage)
    }

    /// The memory to use. A lost memory must not shorten the overlap: the pins that clients use now are in the document
    /// that is about to be replaced.
    private func recalled(_ found: TrustServerMemory, at time: Date) async -> PublishingMemory {
        guard found.isLost, let document = await publishedDocument().document, document.counts(at: time) else {
            return found.memory
        }
        return PublishingMemory(
            hosts: document.hosts(at: time), backups: found.memory.backups)
    }

    /// The published document; nil if it does not exist or this key did not sign it.
    private func publishedDocument() async -> (document: PublishedDocument?, data: Data?) {
        guard let data = try? await storage.data(at: documentPath, atMost: TrustServerPath.maximumBytes) else {
            return (nil, nil)
        }
        return (try? PublishedDocument(reading: data, by: key, customer: customer), data)
    }

    /// The documents of clients that have not fetched since a document with other pins: those that earlier rounds
    /// replaced, the one that this round is about to replace, and those that were given.
    private func earlier(
        than hosts: [TrustServerHost], of clients: RoundClients, at now: Date
    ) async -> EarlierDocuments {
        let published = await publishedDocument()
        let path = TrustServerPath.replaced(of: customer)
        var (documents, reason) = (ReplacedDocuments(), String?.none)
        do {
            if let data = try await storage.data(at: path, atMost: TrustServerPath.maximumBytes) {
                documents = try ReplacedDocuments(reading: data)
            } else if published.data != nil {
                // Every round writes the file.
                reason = "it is not there"
            }
        } catch {
            reason = (error as? any HoldfastError)?.found ?? ForeignErrorText.found(error)
        }
        if let old = published.data, let document = published.document, !document.pinsTheSame(as: hosts) {
            documents.add(old, replaced: now)
        }
        var earlier = documents.earlier(signedBy: key.certificate, customer: customer, at: now)
        if let reason {
            earlier.gaps.append(
                "clients may hold a document that a round has replaced, and nobody knows which: \(path): \(reason)")
        }
        earlier.name(clients.replaced)
        return earlier
    }

    /// Stores a document that clients may still hold when another is about to replace it.
    /// - Returns: whether it could be stored. Clients get the new document in any case.
    private func note(_ document: Data, replaced now: Date) async -> Bool {
        let path = TrustServerPath.replaced(of: customer)
        do {
            let old = try await storage.data(at: path, atMost: TrustServerPath.maximumBytes)
            let known = old.map { try? ReplacedDocuments(reading: $0) } ?? ReplacedDocuments()
            if known == nil { complain("\(path) is damaged, and begins anew with what this round replaces") }
            var documents = known ?? ReplacedDocuments()
            documents.add(document, replaced: now)
            let new = try documents.data
            if try await storage.replace(path, old, with: new) { return known != nil }
            complain("\(path) was changed by somebody else; status does not know what this round replaced")
        } catch {
            let reason = (error as? any HoldfastError)?.found ?? ForeignErrorText.found(error)
            complain("\(path) cannot be used: \(reason); status does not know what this round replaced")
        }
        return false
    }

    private func write(_ memory: PublishingMemory, insteadOf old: Data?) async throws(PublishingError) {
        let data: Data
        do throws(SigningError) {
            data = try memory.data
        } catch {
            throw PublishingError(.unwritable, of: memoryPath, expected: error.expected, found: error.found)
        }
        try await write(data, to: memoryPath, insteadOf: old)
    }

    private func write(_ data: Data, to path: String, insteadOf old: Data?) async throws(PublishingError) {
        do {
            if try await storage.replace(path, old, with: data) { return }
        } catch let error as PublishingError {
            throw error
        } catch {
            throw PublishingError(
                .unwritable, of: path, expected: "a file that can be replaced", found: ForeignErrorText.found(error))
        }
        throw PublishingError(
            .changedMeanwhile, of: path, expected: "what this round began with",
            found: "that somebody else has published a round")
    }
}
