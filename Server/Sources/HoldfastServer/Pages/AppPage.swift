import Holdfast

/// An app: its hosts with what is pinned against what is seen, its changes, documents, exports, keys and approvers.
struct AppPage: Sendable {
    let facts: AppFacts
    /// The newest changes, with where they are on their way.
    let changes: [(change: Change, state: Change.State)]
    /// The newest version of each document.
    let documents: [Catalog.StoredDocument]
    /// The keys that sign.
    let keys: [Catalog.Key]
    let approvers: ApproverSet

    /// What builds are made from is small; a larger file is fetched and not copied from a page.
    private static let greatestExport = 256 << 10
    private static let exports = "pins/"
    /// A certificate that ends sooner is said in another color.
    private static let soon: Int64 = 14 * 86_400

    /// What the template shows.
    var content: [String: PageValue] {
        let (scene, now) = (facts.scene, facts.now)
        let published = scene.publications.last.map { last in
            "generation \(scene.generation), \(PageText.timeAndDistance(last.published, from: now))"
        }
        let canary = scene.app.settings.canary
        return [
            "displayName": .text(scene.app.displayName), "name": .text("\(facts.app)"),
            "published": .text(scene.generation > 0 ? published ?? "nothing yet" : "nothing yet"),
            "ends": .text(scene.published.map { PageText.timeAndDistance($0.end, from: now) } ?? PageText.nothing),
            "staleness": .text(PageText.span(scene.app.settings.staleness)),
            "canary": .text(canary == 0 ? "none" : PageText.span(canary)),
            "reports": .text(reports), "reportsAddress": .text(PageLink.reports(facts.app)),
            "hosts": .list(scene.hosts.map(host)), "changes": .list(changes.map(change)),
            "documents": .list(documents.map(document)), "exports": .list(exports), "keys": .list(keys.map(key)),
        ].merging(approvers.content) { own, _ in own }
    }

    private var reports: String {
        guard let reports = facts.reports else { return "cannot be read now" }
        guard reports.isEnabled else { return "not taken" }
        return reports.warnings.isEmpty ? "taken" : "taken, \(PageText.count(Int64(reports.warnings.count), "warning"))"
    }

    // MARK: Hosts

    private func host(_ host: AppScene.Host) -> PageValue {
        let pins = facts.pins(of: host.host)
        let shown = host.observations
        return [
            "label": .text(host.host.label), "address": .text(PageLink.host(host.host, of: facts.app)),
            "backups": .text(Self.words(pins)), "isUnseen": .flag(shown.isEmpty),
            "span": .number(Int64(shown.count) + 1), "shown": .list(shown.map { observation($0, pins) }),
        ]
    }

    /// What is published for a host.
    static func words(_ pins: ContentHost?) -> String {
        guard let pins else { return "not published" }
        let backups = pins.keys.count { $0.state == .backup }
        return [
            PageText.count(Int64(pins.certificates.count), "certificate"),
            PageText.count(Int64(pins.keys.count), "key"),
            "\(backups) of them backup",
        ].joined(separator: ", ")
    }

    private func observation(_ seen: Observation, _ pins: ContentHost?) -> PageValue {
        let isOld = seen.lastSeen < facts.now - Vantage.lifetime
        let end = seen.chain?.end
        let pinned = PinMatch.shown(seen.chain.map { PinMatch.words($0, pins) } ?? [])
        let endRank: PageRank =
            end.map { $0 < facts.now ? .bad : $0 - facts.now < Self.soon ? .warn : .usual } ?? .usual
        return [
            "place": .text("\(seen.address) from \(seen.vantage)"),
            "seen": .text(PageText.distance(to: seen.lastSeen, from: facts.now)),
            "seenRank": (isOld ? PageRank.warn : .usual).value, "failure": .optional(seen.failure),
            "certificate": .optional(seen.chain.map { PageText.short($0.fingerprint) }),
            "ends": .text(end.map { PageText.distance(to: $0, from: facts.now) } ?? PageText.nothing),
            "endRank": endRank.value, "pinned": .text(pinned.words), "pinRank": pinned.rank.value,
        ]
    }

    // MARK: The rest

    private func change(_ change: Change, _ state: Change.State) -> PageValue {
        [
            "address": .text(PageLink.change(change.id, of: facts.app)), "reason": .text(change.reason),
            "state": .text(state.rawValue), "proposed": .text(PageText.time(change.proposed)),
        ]
    }

    private func document(_ document: Catalog.StoredDocument) -> PageValue {
        [
            "path": .text(document.path), "version": .number(document.version),
            "signed": .text(PageText.time(document.signedAt)),
            "ends": .text(PageText.distance(to: document.end, from: facts.now)),
            "digest": .text(PageText.short(document.digest)),
        ]
    }

    /// What builds are made from, as it is. Text that a page would have to change is not offered: a copy must have the
    /// same octets.
    private var exports: [PageValue] {
        documents.filter { document in
            document.path.utf8.starts(with: Self.exports.utf8) && document.octets.count <= Self.greatestExport
                && document.octets.allSatisfy { $0 == 0x0A || $0 == 0x09 || (0x20...0x7E).contains($0) }
        }.enumerated().map { index, document in
            [
                "number": .number(Int64(index) + 1), "path": .text(document.path),
                "version": .number(document.version),
                "text": .text(String(decoding: document.octets, as: UTF8.self)),
            ]
        }
    }

    private func key(_ key: Catalog.Key) -> PageValue {
        [
            "purpose": .text(key.place.purpose.rawValue), "id": .text(key.place.id),
            "custody": .text(key.program == nil ? "sealed by this server" : "in a program of the operator"),
            "digest": .text("\(Digest(of: key.publicKey))"),
        ]
    }
}

extension ApproverSet {
    /// What the template of approvers shows.
    var content: [String: PageValue] {
        [
            "needed": .text(neededWords),
            "approvers": .list(
                members.map { member in
                    [
                        "person": .text(member.name), "kind": .text(PageText.kind(of: member)),
                        "identity": .text("\(member.key.identity)"),
                    ]
                }),
        ]
    }

    /// How many must agree.
    var neededWords: String {
        "\(number) of \(PageText.count(Int64(members.count), "approver")) must approve a change"
            + (number > 1 ? ", the proposer not among them" : "")
    }
}
