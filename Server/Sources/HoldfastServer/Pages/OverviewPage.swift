import Foundation
import Holdfast

/// What needs somebody, in all apps that the viewer may see; everything else is quiet.
struct OverviewPage: Sendable {
    /// Something that somebody should do or look at.
    struct Need: Sendable, Hashable {
        /// What it is about, the most urgent first.
        enum Kind: String, Sendable, Hashable, CaseIterable {
            case emergency = "Emergency"
            case alarm = "Alarm"
            case canary = "Canary held"
            case end = "Ends soon"
            case unseen = "Not seen"
            case backup = "No backup"
            case failures = "Reported"
            case change = "Change"

            var rank: PageRank {
                switch self {
                case .emergency, .alarm, .canary: .bad
                case .end, .unseen, .backup, .failures: .warn
                case .change: .usual
                }
            }
        }

        let kind: Kind
        /// What it is about, which links to where it stands.
        let title: String
        let address: String
        let words: String
    }

    /// More than anybody reads.
    static let greatestNeedCount = 200

    let needs: [Need]
    private let apps: [AppFacts]

    init(_ apps: [AppFacts]) {
        self.apps = apps
        var needs: [Need] = []
        for app in apps { needs += Self.needs(of: app) }
        // Sorted by the kind alone; within it the order of the apps stays.
        self.needs = Need.Kind.allCases.flatMap { kind in needs.filter { $0.kind == kind } }
    }

    private static func needs(of facts: AppFacts) -> [Need] {
        var needs = changes(of: facts)
        let (app, now) = (facts.app, facts.now)
        func need(_ kind: Need.Kind, _ title: String, _ address: String, _ words: String) {
            needs.append(Need(kind: kind, title: title, address: address, words: words))
        }
        if let canary = facts.scene.canary, let since = canary.probes.heldSince {
            need(
                .canary, "\(app)", PageLink.change(canary.change, of: app),
                "Clients refuse what the canary has since \(PageText.timeAndDistance(since, from: now)): "
                    + canary.probes.refusals.joined(separator: "; "))
        }
        if let published = facts.scene.published {
            if published.end - now <= facts.scene.app.settings.staleness {
                need(
                    .end, "\(app)", PageLink.app(app),
                    "What is published ends at \(PageText.timeAndDistance(published.end, from: now)), before the last "
                        + "of its clients has asked again.")
            }
            for missing in published.missingBackups(at: now) {
                need(.backup, "\(app)", PageLink.app(app), "\(missing.words).")
            }
        }
        for host in facts.scene.hosts {
            let (title, address) = ("\(host.host.label) of \(app)", PageLink.host(host.host, of: app))
            for digest in facts.alarms(on: host) {
                need(.alarm, title, address, "It showed a key that nobody announced: \(digest)")
            }
            for digest in facts.reminders(on: host) {
                need(.end, title, address, "Something has to be published soon, since this ends: \(digest)")
            }
            if let words = unseen(host, at: now) { need(.unseen, title, address, words) }
        }
        for warning in facts.reports?.warnings ?? [] {
            need(.failures, "\(app)", PageLink.reports(app), "As far as reports can be believed: \(warning)")
        }
        return needs
    }

    private static func changes(of facts: AppFacts) -> [Need] {
        facts.open.filter { $0.state == .proposed || $0.state == .approved }.map { change, state in
            let until = PageText.timeAndDistance(change.end, from: facts.now)
            let waits = state == .approved ? "is approved, and waits to be published" : "waits for approvals"
            return Need(
                kind: change.isEmergency ? .emergency : .change, title: change.reason,
                address: PageLink.change(change.id, of: facts.app),
                words: "A change of \(facts.app) \(waits) until \(until)."
                    + (change.isEmergency ? " It skips the canary." : ""))
        }
    }

    /// Why nobody knows what a host shows now; nil if it was seen within the hour.
    private static func unseen(_ host: AppScene.Host, at now: Int64) -> String? {
        guard let last = host.observations.map(\.lastSeen).max() else { return "It was never seen." }
        guard last >= now - Vantage.lifetime else {
            return "It was last looked at \(PageText.distance(to: last, from: now))."
        }
        guard host.shown.allSatisfy({ $0.chain == nil }) else { return nil }
        return "No address of it can be read: " + (host.shown.first?.failure ?? "")
    }

    /// What the template shows.
    var content: [String: PageValue] {
        [
            "isQuiet": .flag(needs.isEmpty), "isCut": .flag(needs.count > Self.greatestNeedCount),
            "needs": .list(
                needs.prefix(Self.greatestNeedCount).map { need in
                    [
                        "rank": need.kind.rank.value, "kind": .text(need.kind.rawValue), "title": .text(need.title),
                        "address": .text(need.address), "words": .text(need.words),
                    ]
                }),
            "apps": .list(apps.map(Self.row)),
        ]
    }

    private static func row(_ facts: AppFacts) -> PageValue {
        let ends = facts.scene.hosts.flatMap(\.shown).compactMap { $0.chain?.end }
        return [
            "address": .text(PageLink.app(facts.app)), "name": .text("\(facts.app)"),
            "displayName": .text(facts.scene.app.displayName),
            "published": .text(facts.publishedWords),
            "ends": .text(
                facts.scene.published.map { PageText.distance(to: $0.end, from: facts.now) } ?? PageText.nothing),
            "hosts": .number(Int64(facts.scene.hosts.count)),
            "firstEnd": .text(ends.min().map { PageText.distance(to: $0, from: facts.now) } ?? PageText.nothing),
            "open": .number(Int64(facts.open.count)),
        ]
    }
}

extension AppFacts {
    /// What is published, and since when.
    var publishedWords: String {
        guard scene.generation > 0, let last = scene.publications.last else { return "nothing yet" }
        return "generation \(scene.generation), \(PageText.distance(to: last.published, from: now))"
    }
}

extension HostChain {
    /// The last second of the server's own certificate.
    var end: Int64? { leaf.map { Int64($0.notAfter.timeIntervalSince1970) } }
}
