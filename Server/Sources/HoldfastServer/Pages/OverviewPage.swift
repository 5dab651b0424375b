/// What needs somebody, in all apps that the viewer may see; everything else is quiet.
struct OverviewPage: Sendable {
    /// More than anybody reads.
    static let maximumNeedCount = 200
    /// As many apps as a page has room for.
    static let maximumAppCount = 50

    let needs: [OverviewNeed]
    private let apps: [AppSummary]
    /// How many apps nobody has looked at lately.
    private let outdated: Int
    /// How many apps the viewer may see.
    private let count: Int
    /// The app behind which the next page begins; nil for the last page.
    private let rest: AppName?
    private let now: Int64

    /// - Parameters:
    ///   - found: all apps that the viewer may see.
    ///   - count: how many these are.
    ///   - shown: those that this page has room for.
    ///   - rest: the app behind which the next page begins; nil for the last page.
    ///   - warning: what is so for the whole server.
    init(
        _ found: AppSummaries.Found, of count: Int, showing shown: some Sequence<AppName>, rest: AppName?,
        warning: String?, at now: Int64
    ) {
        var all = found.summaries.flatMap(\.needs)
        if let warning {
            all.append(OverviewNeed(kind: .disk, title: "The server", address: PageLink.overview, words: warning))
        }
        // Sorted by the kind alone; within it the order of the apps stays.
        self.needs = OverviewNeed.Kind.allCases.flatMap { kind in all.filter { $0.kind == kind } }
        let wanted = Set(shown)
        apps = found.summaries.filter { wanted.contains($0.app) }
        (outdated, self.count, self.rest, self.now) = (found.outdated, count, rest, now)
    }

    /// What the template shows.
    var content: [String: PageValue] {
        [
            "isQuiet": .flag(needs.isEmpty && outdated == 0), "isCut": .flag(needs.count > Self.maximumNeedCount),
            "outdated": .optional(outdated > 0 ? outdatedWords : nil),
            "needs": .list(
                needs.prefix(Self.maximumNeedCount).map { need in
                    [
                        "rank": need.kind.rank.value, "kind": .text(need.kind.rawValue), "title": .text(need.title),
                        "address": .text(need.address), "words": .text(need.words),
                    ]
                }),
            "apps": .list(apps.map(row)), "older": .optional(rest.map { PageLink.overview(after: $0) }),
        ]
    }

    private var outdatedWords: String {
        "\(outdated) of \(QuantityText.count(Int64(count), "app")) were not looked at since something happened there, or not "
            + "for a quarter of an hour. Each time that this page is loaded, it looks at the next "
            + "\(AppSummaries.maximumReading)."
    }

    private func row(_ app: AppSummary) -> PageValue {
        func distance(_ time: Int64?) -> PageValue {
            .text(time.map { PageText.distance(to: $0, from: now) } ?? PageText.nothing)
        }
        return [
            "address": .text(PageLink.app(app.app)), "name": .text("\(app.app)"),
            "displayName": .text(app.displayName), "published": .text(published(app)), "ends": distance(app.end),
            "hosts": .number(app.hostCount), "firstEnd": distance(app.firstEnd),
            "open": .number(Int64(app.openCount)),
        ]
    }

    private func published(_ app: AppSummary) -> String {
        guard app.generation > 0, let time = app.published else { return "nothing yet" }
        return "generation \(app.generation), \(PageText.distance(to: time, from: now))"
    }
}
