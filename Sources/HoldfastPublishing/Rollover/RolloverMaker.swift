import Foundation
import Holdfast
import HoldfastTUF

extension RolloverSituation {
    /// Makes the situations of a host from real documents and chains: one, or one for each kind of key if some server
    /// has a certificate for each kind, because a key of one kind cannot replace one of another kind there.
    ///
    /// The clients' own code evaluates each document, chain and platform, as in a ``PublicationOutlook``, at every
    /// instant at which something begins or ends. Future grace does not count, because it must not be part of a plan.
    /// - Throws: ``PublishingError`` `invalidInput` for inputs that contradict themselves, and `notSeen` if the chain
    ///   of some server is unknown, because then no advice is safe.
    public static func situations(from inputs: RolloverInputs) throws(PublishingError) -> [RolloverSituation] {
        try RolloverMaker(inputs).situations()
    }
}

/// Makes situations from real documents and chains, with the clients' own code.
struct RolloverMaker {
    /// The length of the evaluated time: longer than certificates and pins last. Anything beyond is assumed never to
    /// end.
    private static let span: Int64 = 10 * 365 * 86_400

    let inputs: RolloverInputs
    let host: DialedHost
    let documents: [HeldDocument]
    /// The published documents: one for each kind of client, or for each configuration of one.
    let published: [HeldDocument]
    let platforms: [ClientPlatform]
    /// The first second, and the first one after the evaluated time.
    let (begins, ends): (Int64, Int64)
    /// The current requirements of the published documents for the host.
    let rules: [PublishedRule]
    /// The subject that documents pin for a host.
    let pinned: Pin.Subject

    /// A pin of a published document that is currently valid.
    struct PublishedRule {
        let rule: PinRule
        let isBackup: Bool
        let isRetiring: Bool
    }

    init(_ inputs: RolloverInputs) throws(PublishingError) {
        self.inputs = inputs
        do throws(HostError) {
            host = try DialedHost(inputs.host, port: inputs.port)
        } catch {
            throw PublishingError(.invalidInput, of: inputs.host.quoted, expected: error.expected, found: error.found)
        }
        let judged = PublicationOutlook.Inputs(
            documents: inputs.documents, hosts: [.init(inputs.host, port: inputs.port, shown: inputs.servers)],
            platforms: inputs.platforms, appVersions: inputs.appVersions,
            staleness: inputs.staleness ?? .zero, now: inputs.now)
        try OutlookLimits.check(judged)
        let held = try inputs.documents.indices.map { index throws(PublishingError) in
            try HeldDocument(index, judged)
        }
        documents = held
        platforms = try inputs.platforms.map { platform throws(PublishingError) in try ClientPlatform(platform) }
        begins = inputs.now.wholeSeconds
        ends = begins + Self.span
        let served = held.filter { $0.document.replaced == nil && !$0.document.isCarriedAlone }
        let current = served.filter { one in
            !served.contains { $0.index > one.index && $0.document.kind.isForSameClients(as: one.document.kind) }
        }
        guard !current.isEmpty, !platforms.isEmpty else {
            throw PublishingError(
                .invalidInput, expected: "a published document and a platform",
                found: current.isEmpty ? "no document that is published" : "no platform")
        }
        published = current
        pinned = current.contains { $0.pinnedSubjects.contains(.certificate) } ? .certificate : .publicKey
        let (host, time) = (self.host, Date(wholeSeconds: begins))
        rules = current.flatMap { Self.rules(of: $0, for: host, at: time, retiring: inputs.retiring) }
        try checkServers()
    }

    private func checkServers() throws(PublishingError) {
        guard !inputs.servers.isEmpty else {
            throw PublishingError(.notSeen, of: inputs.host.quoted, expected: "what servers show", found: "nothing")
        }
        for shown in inputs.servers {
            let isFresh = shown.seen.map { abs(inputs.now.timeIntervalSince($0)) <= OutlookJudge.longestSinceSeen }
            guard shown.chain?.isEmpty ?? true || isFresh != true else { continue }
            throw PublishingError(
                .notSeen, of: inputs.host.quoted, expected: "what \(shown.place) shows",
                found: shown.problem ?? (shown.chain == nil ? "nothing" : "what it showed over an hour ago"))
        }
    }

    private static func rules(
        of held: HeldDocument, for host: DialedHost, at time: Date, retiring: Set<Pin>
    ) -> [PublishedRule] {
        let answer = held.source?.answer(to: PinQuestion(host: host, time: time))
        guard case .required(let pins) = answer?.content else { return [] }
        let entries = held.pinFile?.host(for: host)?.pins ?? []
        return pins.rules.filter { !$0.isCandidate && $0.counts(at: time) }.map { rule in
            let states = entries.filter { $0.pin == rule.pin }.map(\.state)
            return PublishedRule(
                rule: rule, isBackup: states.contains(.backup),
                isRetiring: states.contains(.retiring) || retiring.contains(rule.pin))
        }
    }

    // MARK: Situations

    func situations() throws(PublishingError) -> [RolloverSituation] {
        var chains: [RolloverChain] = []
        let issuers = inputs.servers.flatMap { ($0.chain ?? []).dropFirst() }
        var shows: [Int] = []
        for shown in inputs.servers {
            let chain = try RolloverChain(shown.chain ?? [], named: shown.place, pinned)
            let known = chains.firstIndex { $0.pin == chain.pin }
            if known == nil { chains.append(chain) }
            shows.append(known ?? chains.count - 1)
        }
        var keys: [RolloverInputs.Candidate] = []
        var next: [Pin] = []
        var backups: Set<Pin> = []
        for candidate in inputs.candidates {
            let pin: Pin
            if candidate.chain.isEmpty {
                guard let key = candidate.keyPin, key.subject == pinned else {
                    throw PublishingError(
                        .invalidInput, of: candidate.name.quoted,
                        expected: pinned == .certificate ? "a certificate" : "a key", found: "none")
                }
                pin = key
                if !chains.contains(where: { $0.pin == pin }) { keys.append(candidate) }
            } else {
                let chain = try RolloverChain(candidate.chain + issuers, named: candidate.name, pinned)
                pin = chain.pin
                if !chains.contains(where: { $0.pin == pin }) { chains.append(chain) }
            }
            if candidate.isNext { next.append(pin) }
            if candidate.isBackup { backups.insert(pin) }
        }
        let kinds = Self.kinds(inputs.servers, shows.map { chains[$0].kind })
        return kinds.map { kind in
            let places = shows.indices.filter { kind == nil || chains[shows[$0]].kind == kind }
            let known = chains.filter { kind == nil || $0.kind == kind }
            return situation(places, shows.map { chains[$0].pin }, known, keys, next, backups)
        }
    }

    /// The kinds of keys to handle separately; nil for all together.
    private static func kinds(
        _ servers: [PublicationOutlook.Presentation], _ kinds: [RolloverChain.Kind]
    ) -> [RolloverChain.Kind?] {
        let isDual = servers.indices.contains { one in
            servers.indices.contains {
                servers[$0].place.utf8.elementsEqual(servers[one].place.utf8) && kinds[$0] != kinds[one]
            }
        }
        guard isDual else { return [nil] }
        return RolloverChain.Kind.allCases.filter(kinds.contains)
    }

    private func situation(
        _ places: [Int], _ shown: [Pin], _ chains: [RolloverChain], _ keys: [RolloverInputs.Candidate], _ next: [Pin],
        _ backups: Set<Pin>
    ) -> RolloverSituation {
        var identities: [RolloverSituation.Identity] = []
        var judges: [RolloverAdmissions] = []
        var matched: Set<Int> = []
        for chain in chains {
            let judge = RolloverAdmissions(of: chain, in: self)
            matched.formUnion(judge.matched)
            let own = judge.matched.map { rules[$0] }
            judges.append(judge)
            identities.append(
                .init(
                    chain.name, pin: chain.pin, validity: judge.validity, certificateEnd: judge.certificateEnd,
                    isBackup: backups.contains(chain.pin) || !own.isEmpty && own.allSatisfy(\.isBackup),
                    isRetiring: inputs.retiring.contains(chain.pin) || !own.isEmpty && own.allSatisfy(\.isRetiring),
                    isPublished: !own.isEmpty))
        }
        let standIns = zip(chains, judges).filter { chain, _ in places.contains { shown[$0] == chain.pin } }.map(\.1)
        for key in keys {
            guard let pin = key.keyPin, !identities.contains(where: { $0.pin == pin }) else { continue }
            let judge = RolloverAdmissions(of: pin, beside: standIns, in: self)
            matched.formUnion(judge.matched)
            let own = judge.matched.map { rules[$0] }
            judges.append(judge)
            identities.append(
                .init(
                    key.name, pin: pin, validity: judge.validity,
                    isBackup: backups.contains(pin) || own.contains(where: \.isBackup),
                    isRetiring: own.contains(where: \.isRetiring), isPublished: !own.isEmpty))
        }
        for (index, published) in rules.enumerated() where !matched.contains(index) {
            let pin = published.rule.pin
            // A placeholder is not the pin of a key, so it is no spare.
            guard PlaceholderDigest(pin.digest) == nil, !identities.contains(where: { $0.pin == pin }),
                !isShownElsewhere(index, chains)
            else { continue }
            let judge = RolloverAdmissions(of: pin, beside: standIns, in: self)
            judges.append(judge)
            identities.append(
                .init(
                    pin.description, pin: pin, validity: judge.validity, isBackup: published.isBackup,
                    isRetiring: published.isRetiring, isPublished: true))
        }
        let servers = places.compactMap { place in
            identities.firstIndex { $0.pin == shown[place] }.map {
                RolloverSituation.Server(inputs.servers[place].place, shows: $0)
            }
        }
        let target = next.lazy.compactMap { pin in identities.firstIndex { $0.pin == pin } }.first
        return RolloverSituation(
            at: Date(wholeSeconds: begins), pinned: pinned, staleness: inputs.staleness, lead: inputs.lead,
            identities: identities, servers: servers,
            clients: HeldDocument.deciding(about: host, among: documents).flatMap { clients(of: $0, judges) },
            next: target, unknownUntil: unknownUntil)
    }

    /// Whether a chain satisfies a published rule, for a policy that requires that rule alone.
    func isSatisfied(
        _ rule: Int, by chain: PresentedChain, under validator: any ChainValidator, at time: Date,
        _ names: [Pin: Pin] = [:]
    ) -> Bool {
        let rule = rules[rule].rule
        let policy = PinnedPolicy(
            scope: .hosts(HostPattern(host)),
            source: RenamedPins(PinSet(known: [PinRule(rule.pin, at: rule.place)]), names), certificates: [],
            log: .silent)
        let trust = ServerTrust(chain: chain, purpose: .server(identity: host), validator: validator)
        return policy.evaluate(trust, at: time).isTrusted
    }

    /// The first instant at which no client holds a document that is not given; nil if that is in the past.
    private var unknownUntil: Date? {
        guard inputs.hasEarlierDocuments else { return nil }
        let oldest = published.map { current in
            documents.filter { $0.index == current.index || isEarlier($0, than: current) }
                .map(\.document.published).min() ?? current.document.published
        }
        guard let staleness = inputs.staleness, let last = oldest.max() else { return .distantFuture }
        let until = PublicationTiming(staleness: staleness).lastUse(ofDocumentReplacedAt: last)
        return until.wholeSeconds > begins ? until : nil
    }

    /// Whether clients that hold a document get a published one next. Among several pin files, the replacement is
    /// unknown.
    private func isEarlier(_ held: HeldDocument, than current: HeldDocument) -> Bool {
        guard !held.document.isCarriedAlone else { return false }
        return published.count == 1 || held.document.kind.isForSameClients(as: current.document.kind)
    }

    /// The document that clients of a document get next; nil for a published one.
    private func successor(of held: HeldDocument) -> HeldDocument? {
        guard !published.contains(where: { $0.index == held.index }) else { return nil }
        return published.last { $0.document.kind.isForSameClients(as: held.document.kind) } ?? published.last
    }

    /// Whether a server with a key of another kind, which is handled separately, presents a pin.
    private func isShownElsewhere(_ index: Int, _ chains: [RolloverChain]) -> Bool {
        inputs.servers.contains { shown in
            guard let chain = try? RolloverChain(shown.chain ?? [], named: "", pinned),
                !chains.contains(where: { $0.pin == chain.pin })
            else { return false }
            return RolloverAdmissions(of: chain, in: self).matched.contains(index)
        }
    }

    private func clients(of held: HeldDocument, _ judges: [RolloverAdmissions]) -> [RolloverSituation.Clients] {
        let document = held.document
        let successor = successor(of: held)
        // Clients that refuse the replacement of a document keep that document.
        let isStuck = successor.map { held.refusal(of: $0, at: Date(wholeSeconds: begins)) != nil } ?? false
        // A client whose document has ended by itself fetches before it evaluates.
        let ended =
            successor == nil || isStuck ? nil : held.end.map { min($0, .distantFuture)..<Date.distantFuture }
        var clients: [RolloverSituation.Clients] = []
        if !document.isCarriedAlone {
            let replaced = successor.map { document.replaced ?? $0.document.published }
            clients.append(
                .init(
                    document.name, published: document.published, replaced: isStuck ? nil : replaced,
                    isShipped: isStuck,
                    admissions: judges.map { judge in
                        judge.admissions(by: held, isBeginning: successor == nil)
                            + [held.lifetime == nil ? nil : ended].compactMap(\.self)
                    }))
        }
        if !document.appVersions.isEmpty {
            // Builds start with a bundle as long as they are used, and update from the repository from there.
            let isFollowing = document.isNeverServed && published.contains(where: held.isSucceeded)
            clients.append(
                .init(
                    "\(document.name) in \(document.appVersions.prefix(8).joined(separator: ", "))",
                    published: document.published, isShipped: true, usedUntil: carriedEnd(of: document),
                    admissions: judges.map { judge in
                        judge.admissions(by: held, isBeginning: false)
                            + [isFollowing ? ended : nil].compactMap(\.self)
                    }))
        }
        return clients
    }

    /// When no build with a document is used; nil if no end is in sight.
    private func carriedEnd(of document: PublicationOutlook.Document) -> Date? {
        guard case .versions(let versions) = inputs.appVersions else { return nil }
        var last: Date?
        for version in versions
        where document.appVersions.contains(where: { $0.utf8.elementsEqual(version.name.utf8) }) {
            guard let end = version.usedUntil else { return nil }
            last = max(last ?? end, end)
        }
        return last
    }
}

extension HeldDocument {
    /// The pin file in the content; nil for other documents.
    var pinFile: PinFile? {
        switch content {
        case .pinFile(let file): file
        case .repository(let pins): pins.file
        case .list, .trustServer, .refused: nil
        }
    }

    /// The subjects that its clients pin.
    var pinnedSubjects: Set<Pin.Subject> {
        switch document.kind {
        case .staticList, .challengedList: [.certificate]
        case .shippedPins, .repository: [.publicKey]
        case .trustServer: Set(clients.compactMap(\.pinning))
        }
    }
}
