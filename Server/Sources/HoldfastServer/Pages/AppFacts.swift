import Holdfast

/// Everything about an app that pages show, as it is stored. Pages judge nothing.
struct AppFacts: Sendable {
    /// What a change would be judged by.
    let scene: AppScene
    /// What was seen that nobody announced: the host, and the digest of the key.
    let alarms: Set<Ledger.Name>
    /// What has to be published soon: the host, and the digest of what ends.
    let reminders: Set<Ledger.Name>
    /// The changes that people can still publish, the oldest first.
    let open: [(change: Change, state: Change.State)]
    /// What clients report; nil if that cannot be read, which holds up no page.
    let reports: ReportStanding?

    private let published: WatchMemory.PublishedHosts

    /// More than anybody looks through; the others are on the page of their app once these are done.
    private static let greatestOpenCount = 32

    var app: AppName { scene.app.name }
    var now: Int64 { scene.now }

    /// What is published for a host; nil if nothing is.
    func pins(of host: CatalogHost) -> ContentHost? { Self.pins(of: host, in: published) }

    /// What some published hosts have for a host; nil for nothing.
    static func pins(of host: CatalogHost, in published: WatchMemory.PublishedHosts) -> ContentHost? {
        guard let dialed = try? DialedHost(host.name, port: Int(host.port)) else { return published.named(host) }
        return published.host(host, dialed: dialed)
    }

    /// The digests that a host's alarms are about, if nothing that is published or announced now has them.
    func alarms(on host: AppScene.Host) -> [Digest] {
        let pins = pins(of: host.host)
        let known = Set(
            (pins?.keys.map(\.pin) ?? []) + (pins?.certificates.map(\.fingerprint) ?? [])
                + host.next.keys.map { Digest(of: $0) } + host.next.chains.flatMap { $0.chain.digestsOfLeaf })
        return Self.digests(alarms, of: host.host).filter { !known.contains($0) }
    }

    /// The digests of what ends for a host, as far as it is still shown or published.
    func reminders(on host: AppScene.Host) -> [Digest] {
        let pins = pins(of: host.host)
        let current = Set(
            (pins?.certificates.map(\.fingerprint) ?? []) + host.shown.compactMap { $0.chain?.fingerprint }
                + [scene.published?.digest].compactMap(\.self))
        return Self.digests(reminders, of: host.host).filter { current.contains($0) }
    }

    /// The name of an alarm or a reminder is the host and the digest.
    private static func digests(_ names: Set<Ledger.Name>, of host: CatalogHost) -> [Digest] {
        let prefix = Array("\(host.label) ".utf8)
        return names.filter { $0.name.utf8.starts(with: prefix) }
            .compactMap { Digest(hex: $0.name.utf8.dropFirst(prefix.count)) }
            .sorted { "\($0)" < "\($1)" }
    }

    /// Reads what is stored about an app.
    /// - Throws: ``ServerError``; `notFound`.
    init(of app: AppName, in catalog: Catalog) async throws(ServerError) {
        scene = try await catalog.scene(of: app)
        let (chain, now) = (try await catalog.approvers(), scene.now)
        open = try await catalog.look { session, ledger throws(ServerError) in
            var open: [(change: Change, state: Change.State)] = []
            for (id, proposal) in ledger.openChanges(at: now)
            where proposal.app == app && open.count < Self.greatestOpenCount {
                let change = try Catalog.change(id, session, ledger)
                open.append(
                    (change, change.state(chain, generation: ledger.generation(of: app), at: now)))
            }
            return open
        }
        let ledger = catalog.ledger
        alarms = ledger.alarms.filter { $0.app == app }
        reminders = ledger.reminders.filter { $0.app == app }
        reports = try? await catalog.reportStanding(of: app)
        published = WatchMemory.PublishedHosts(scene.published?.hosts ?? [])
    }
}

extension HostChain {
    /// The digests of the server's own certificate and of its key.
    var digestsOfLeaf: [Digest] {
        [fingerprint] + (leaf.map { [Digest(of: $0.subjectPublicKeyInfo)] } ?? [])
    }
}
