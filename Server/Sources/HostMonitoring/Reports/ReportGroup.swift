import ServerFoundation
import ServerModel
import ServerStore

/// The counts for ratios, grouped by audience, host, document version and code.
package struct ReportGroup: Sendable, Hashable {
    /// The audience and the host.
    package struct Place: Sendable, Hashable {
        let audience: ReportAudience
        /// The label of the host.
        let host: String
    }

    let place: Place
    let documentVersion: String
    let code: ClientReport.Code
    /// Whether they are only about the time from the requested hour on.
    let isLater: Bool
    let sums: ReportCount.Sums
}

extension Catalog {
    /// The counts since an hour.
    /// - Parameter first: the hour that separates reports about earlier times from others.
    static func reportGroups(
        of app: AppName, sinceHour hour: Int64, tellingApart first: Int64 = 0, _ session: any StorageSession
    ) throws(ServerError) -> [ReportGroup] {
        try session.run(
            """
            SELECT audience, host, document_version, code, later, CAST(sum(count) AS bigint), \
            CAST(sum(rated) AS bigint), CAST(sum(scaled) AS bigint), CAST(sum(squares) AS bigint) \
            FROM (SELECT *, CASE WHEN since >= $3 THEN 1 ELSE 0 END AS later FROM report_count \
            WHERE app = $1 AND hour >= $2) AS told GROUP BY audience, host, document_version, code, later
            """, [.text("\(app)"), .integer(hour), .integer(first)]
        ).map { row throws(ServerError) in
            ReportGroup(
                place: ReportGroup.Place(
                    audience: try row.text(0) { ReportAudience(bytes: $0) }, host: try row.text(1)),
                documentVersion: try row.text(2) { ClientReport.version($0) },
                code: try row.text(3) { ClientReport.Code(bytes: $0) }, isLater: try row.integer(4) != 0,
                sums: ReportCount.Sums(
                    count: try row.integer(5), rated: try row.integer(6), scaled: try row.integer(7),
                    squares: try row.integer(8)))
        }
    }
}
