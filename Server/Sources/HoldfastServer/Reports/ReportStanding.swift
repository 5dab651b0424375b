/// What clients of an app say, for people to look at. It turns nothing green: anybody can forge reports.
public struct ReportStanding: Sendable, Hashable {
    /// Whether the app takes reports.
    public let isEnabled: Bool
    /// How often connections failed in the last 24 hours, by host and version of the document.
    public let ratios: [ReportedRatio]
    /// Certificates of the last 24 hours that the watcher never saw.
    public let strangers: [ReportedStranger]

    /// What people should look at, a sentence each.
    public var warnings: [String] { ratios.filter(\.isAlarming).map(Self.words) + strangers.map(\.words) }

    /// Everything, a sentence each; what people should look at comes first, and says so.
    public var lines: [String] {
        warnings.map { "WARNING, as far as reports can be believed: \($0)" }
            + ratios.filter { !$0.isAlarming }.map(Self.words)
    }

    private static func words(_ ratio: ReportedRatio) -> String {
        "\(percent(ratio.value)) of the reported connections to \(ratio.host)"
            + (ratio.place.audience == .canary ? " of the canary" : "")
            + (ratio.documentVersion == ClientReport.nothing ? "" : " with document \(ratio.documentVersion)")
            + " failed (\(ratio.reports) reports"
            + (ratio.singleFailures == 0 ? ")" : ", and \(ratio.singleFailures) failures that were told singly)")
    }

    /// A part in percent, with one digit.
    static func percent(_ value: Double) -> String {
        let tenths = Int((value * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }
}

extension Catalog {
    private static let reportSpan: Int64 = 86_400

    /// What clients of an app say.
    /// - Throws: ``ServerError`` `notFound`.
    public func reportStanding(of app: AppName) async throws(ServerError) -> ReportStanding {
        try await look { session, ledger throws(ServerError) in
            try ledger.requireApp(app)
            return try Self.reportStanding(of: app, session, ledger)
        }
    }

    static func reportStanding(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> ReportStanding {
        let settings = try reportSettings(of: app, session, ledger)
        let since = try session.now() - reportSpan
        return ReportStanding(
            isEnabled: settings.isEnabled,
            ratios: ReportedRatio.all(try reportGroups(of: app, sinceHour: since / 3_600, session)),
            strangers: try reportedStrangers(of: app, since: since, session, ledger))
    }
}
