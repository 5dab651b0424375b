/// Reports that ratios are made of: what was counted for an audience, a host, a version of a document and a code.
struct ReportGroup: Sendable, Hashable {
    /// Whose clients, and to which host.
    struct Place: Sendable, Hashable {
        let audience: ReportAudience
        /// The label of the host.
        let host: String
    }

    let place: Place
    let documentVersion: String
    let code: ClientReport.Code
    let sums: ReportCount.Sums
}

extension Catalog {
    /// What was counted since an hour.
    static func reportGroups(
        of app: AppName, sinceHour hour: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [ReportGroup] {
        try session.run(
            """
            SELECT audience, host, document_version, code, CAST(sum(count) AS bigint), CAST(sum(rated) AS bigint), \
            CAST(sum(scaled) AS bigint), CAST(sum(squares) AS bigint) FROM report_count \
            WHERE app = $1 AND hour >= $2 GROUP BY audience, host, document_version, code
            """, [.text("\(app)"), .integer(hour)]
        ).map { row throws(ServerError) in
            ReportGroup(
                place: ReportGroup.Place(
                    audience: try row.text(0) { ReportAudience(octets: $0) }, host: try row.text(1)),
                documentVersion: try row.text(2) { ClientReport.version($0) },
                code: try row.text(3) { ClientReport.Code(octets: $0) },
                sums: ReportCount.Sums(
                    count: try row.integer(4), rated: try row.integer(5), scaled: try row.integer(6),
                    squares: try row.integer(7)))
        }
    }
}
