import Holdfast
import HostMonitoring
import PinChanges
import PinPublication
import ServerApprovals
package import ServerFoundation
import ServerModel
import ServerStore

/// The page of an app: hosts with their pins and observations, changes, documents, exports, keys and approvers.
struct AppPage: Sendable {
    let facts: AppFacts
    let parts: AppParts
    let approvers: ApproverSet
    /// The current alerts of the app, the same as in `status` and REST.
    let alerts: [Publisher.StandingAlert]

    /// Certificates that expire sooner are highlighted.
    private static let soon: Int64 = 14 * 86_400
    /// Maximum number of alerts on the page; `status` and REST list all of them.
    private static let maximumAlertCount = 200

    /// The values for the template.
    var content: [String: PageValue] {
        let now = facts.now
        let published = facts.publishedAt.map { time in
            "generation \(facts.generation), \(PageText.timeAndDistance(time, from: now))"
        }
        let canary = facts.app.settings.canary
        let content: [String: PageValue] = [
            "displayName": .text(facts.app.displayName), "name": .text("\(facts.name)"),
            "published": .text(facts.generation > 0 ? published ?? "nothing yet" : "nothing yet"),
            "ends": .text(facts.published.map { PageText.timeAndDistance($0.end, from: now) } ?? PageText.nothing),
            "staleness": .text(QuantityText.span(facts.app.settings.staleness)),
            "canary": .text(canary == 0 ? "none" : QuantityText.span(canary)),
            "hasAlerts": .flag(!alerts.isEmpty), "alerts": .list(alerts.prefix(Self.maximumAlertCount).map(alert)),
            "reports": .text(reports), "reportsAddress": .text(PageLink.reports(facts.name)),
            "hostCount": .text(QuantityText.count(facts.hostCount, "host")), "hosts": .list(facts.hosts.map(host)),
            "moreHosts": .optional(facts.rest.map { PageLink.hosts(of: facts.name, after: $0) }),
            "changes": .list(parts.changes.map(change)),
            "moreChanges": .optional(parts.nextChange.map { PageLink.app(facts.name, "changes", from: $0) }),
            "documents": .list(parts.documents.map(document)),
            "moreDocuments": .optional(parts.nextDocument.map { PageLink.app(facts.name, "documents", from: $0) }),
            "exports": .list(exports), "others": .list(parts.others.map(other)), "keys": .list(parts.keys.map(key)),
        ]
        return content.merging(approvers.content(of: facts.name)) { own, _ in own }
    }

    private func alert(_ alert: Publisher.StandingAlert) -> PageValue {
        let kind = OverviewNeed.Kind(alert.kind)
        return ["rank": kind.rank.value, "kind": .text(kind.rawValue), "words": .text("\(alert.words).")]
    }

    private var reports: String {
        guard let reports = parts.reports else { return "cannot be read now" }
        guard reports.isEnabled else { return "not taken" }
        return reports.warnings.isEmpty
            ? "taken" : "taken, \(QuantityText.count(Int64(reports.warnings.count), "warning"))"
    }

    // MARK: Hosts

    private func host(_ host: AppSnapshot.Host) -> PageValue {
        let pins = facts.pins(of: host.host)
        let shown = host.observations.prefix(Int(AppFacts.maximumPlaceCount))
        let hasMore = host.observations.count > shown.count
        return [
            "label": .text(host.host.label),
            "address": .text(PageLink.host(host.host, of: facts.name)),
            "backups": .text(Self.words(pins)), "isUnseen": .flag(shown.isEmpty), "hasMore": .flag(hasMore),
            "span": .number(Int64(shown.count) + (hasMore ? 2 : 1)),
            "shown": .list(shown.map { observation($0, pins) }),
        ]
    }

    /// Counts the published certificates and keys of a host.
    static func words(_ pins: ContentHost?) -> String {
        guard let pins else { return "not published" }
        let backups = pins.keys.count { $0.state == .backup }
        return [
            QuantityText.count(Int64(pins.certificates.count), "certificate"),
            QuantityText.count(Int64(pins.keys.count), "key"),
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

    // MARK: Other parts

    private func change(_ change: AppParts.ListedChange) -> PageValue {
        [
            "address": .text(PageLink.change(change.standing.id, of: facts.name)),
            "reason": .text(change.standing.reason), "state": .text(change.state.rawValue),
            "proposed": .text(PageText.time(change.standing.proposed)),
        ]
    }

    private func document(_ document: Catalog.DocumentLine) -> PageValue {
        [
            "path": .text(document.path), "version": .number(document.version),
            "signed": .text(PageText.time(document.signedAt)),
            "ends": .text(PageText.distance(to: document.end, from: facts.now)),
            "digest": .text(PageText.short(document.digest)),
        ]
    }

    /// The exported documents that are built into apps, with their exact text.
    private var exports: [PageValue] {
        parts.exports.enumerated().map { index, document in
            [
                "number": .number(Int64(index) + 1), "path": .text(document.path),
                "version": .number(document.version),
                "text": .text(String(decoding: document.bytes, as: UTF8.self)),
            ]
        }
    }

    private func other(_ document: Catalog.DocumentLine) -> PageValue {
        ["path": .text(document.path), "size": .number(document.size)]
    }

    private func key(_ key: Catalog.Key) -> PageValue {
        [
            "purpose": .text(key.place.purpose.rawValue), "id": .text(key.place.id),
            "custody": .text(key.program == nil ? "sealed by this server" : "in a program of the operator"),
            "digest": .text("\(Digest(of: key.publicKey))"),
            // Apps are configured with this value (RFC 5480 2: the uncompressed point ends the SubjectPublicKeyInfo).
            "point": .optional(
                key.place.purpose == .fingerprints ? Base64.encode(Array(key.publicKey.suffix(65))) : nil),
        ]
    }
}

extension ApproverSet {
    /// The values for the template of approvers.
    /// - Parameters:
    ///   - app: the app whose approvers are shown; nil for all approvers.
    ///   - namesApps: whether the viewer may know which other apps there are.
    package func content(of app: AppName?, namingApps namesApps: Bool = false) -> [String: PageValue] {
        [
            "needed": .text(neededWords(for: app)),
            "approvers": .list(
                able(app).map { member in
                    let limits = namesApps ? member.apps.map { ", for \(AppName.line($0)) alone" } : nil
                    return [
                        "person": .text(member.name), "kind": .text(PageText.kind(of: member) + (limits ?? "")),
                        "identity": .text("\(member.key.identity)"),
                    ]
                }),
        ]
    }

    private func able(_ app: AppName?) -> [Member] { members.filter { app.map($0.approves) ?? true } }

    /// The number of approvals needed from the approvers of an app; nil for all approvers.
    func neededWords(for app: AppName?) -> String {
        "\(number) of \(QuantityText.count(Int64(able(app).count), "approver")) must approve a change"
            + (number > 1 ? ", the proposer not among them" : "")
    }
}
