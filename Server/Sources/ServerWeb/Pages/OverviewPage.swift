import ServerFoundation

/// The overview: the items that need action in all apps that the viewer may see, and a list of apps.
struct OverviewPage: Sendable {
    /// Maximum number of items on the page.
    static let maximumNeedCount = 200
    /// Maximum number of apps on a page.
    static let maximumAppCount = 50

    let needs: [OverviewNeed]
    private let apps: [AppSummary]
    /// The number of apps whose summaries are outdated.
    private let outdated: Int
    /// The number of apps that the viewer may see.
    private let count: Int
    /// The last app on this page; nil if no further page follows.
    private let rest: AppName?
    private let now: Int64

    /// - Parameters:
    ///   - found: the summaries of all apps that the viewer may see.
    ///   - count: the number of these apps.
    ///   - shown: the apps that this page lists.
    ///   - rest: the last app on this page; nil if no further page follows.
    ///   - warning: a warning about the whole server.
    init(
        _ found: AppSummaries.Found, of count: Int, showing shown: some Sequence<AppName>, rest: AppName?,
        warning: String?, at now: Int64
    ) {
        var all = found.summaries.flatMap(\.needs)
        if let warning {
            all.append(OverviewNeed(kind: .disk, title: "The server", address: PageLink.overview, words: warning))
        }
        // Sorted by kind only: within a kind, the order of the apps is kept.
        self.needs = OverviewNeed.Kind.allCases.flatMap { kind in all.filter { $0.kind == kind } }
        let wanted = Set(shown)
        apps = found.summaries.filter { wanted.contains($0.app) }
        (outdated, self.count, self.rest, self.now) = (found.outdated, count, rest, now)
    }

    /// The values for the template.
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
        "\(outdated) of \(QuantityText.count(Int64(count), "app")) changed since they were last read, or were not read "
            + "for 15 minutes. Reload this page to read the next \(AppSummaries.maximumReading)."
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
