package import ServerFoundation
package import ServerStore

/// The status of an app's client reports, for people. It never makes a check pass, because reports can be forged.
package struct ReportStanding: Sendable, Hashable {
    /// Whether the app takes reports.
    package let isEnabled: Bool
    /// The ratios of failed connections in the last 24 hours, by host and document version.
    package let ratios: [ReportedRatio]
    /// The certificates reported in the last 24 hours that the watcher never saw.
    package let strangers: [ReportedStranger]
    /// Whether the reports hold the canary of the app, so that a change waits.
    package let holdsCanary: Bool

    /// The warnings, one sentence each.
    package var warnings: [String] { ratios.filter(\.isAlarming).map(Self.words) + strangers.map(\.words) }

    /// All results, one sentence each, warnings first.
    package var lines: [String] {
        warnings.map { "WARNING, as far as reports can be believed: \($0)" }
            + ratios.filter { !$0.isAlarming }.map(Self.words)
    }

    private static func words(_ ratio: ReportedRatio) -> String {
        "\(percent(ratio.value)) of the reported connections to \(ratio.host)"
            + (ratio.place.audience == .canary ? " of the canary" : "")
            + (ratio.documentVersion == ClientReport.nothing ? "" : " with document \(ratio.documentVersion)")
            + " failed (\(ratio.reports) reports"
            + (ratio.singleFailures == 0 ? ")" : ", and \(ratio.singleFailures) individually reported failures)")
    }

    /// Formats a ratio in percent, with one decimal.
    package static func percent(_ value: Double) -> String {
        let tenths = Int((value * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }
}

extension Catalog {
    private static let reportSpan: Int64 = 86_400

    /// The status of an app's client reports.
    /// - Throws: ``ServerError`` `notFound`.
    package func reportStanding(of app: AppName) async throws(ServerError) -> ReportStanding {
        try await look { session, ledger throws(ServerError) in
            try ledger.requireApp(app)
            return try Self.reportStanding(of: app, session, ledger)
        }
    }

    package static func reportStanding(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> ReportStanding {
        let settings = try reportSettings(of: app, session, ledger)
        let since = try session.now() - reportSpan
        return ReportStanding(
            isEnabled: settings.isEnabled,
            ratios: ReportedRatio.all(try reportGroups(of: app, sinceHour: since / 3_600, session)),
            strangers: try reportedStrangers(of: app, since: since, session, ledger),
            holdsCanary: try canaryReports(of: app, session, ledger).map { !$0.refusals.isEmpty } ?? false)
    }
}
