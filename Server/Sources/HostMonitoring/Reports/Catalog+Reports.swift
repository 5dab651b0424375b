import Holdfast
package import ServerFoundation
package import ServerStore

extension Catalog {
    /// The number of hours for which counts and samples are kept.
    static let reportHours: Int64 = 30 * 24
    /// Maximum number of samples per app.
    static let maximumReportSamples: Int64 = 256

    /// Stores counts and samples. They are no evidence, so they are not in the audit.
    package func add(_ waiting: ReportTally.Waiting) async throws(ServerError) {
        try await engine.write { session throws(ServerError) in
            for count in waiting.counts {
                let (key, kind) = (count.key, count.key.kind)
                try session.run(
                    """
                    INSERT INTO report_count (app, audience, host, code, platform, app_version, document_version, \
                    hour, since, count, rated, scaled, squares) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
                    ON CONFLICT (app, audience, host, code, platform, app_version, document_version, hour, since) \
                    DO UPDATE SET count = report_count.count + excluded.count, \
                    rated = report_count.rated + excluded.rated, \
                    scaled = report_count.scaled + excluded.scaled, squares = report_count.squares + excluded.squares
                    """,
                    [
                        .text("\(key.app)"), .text(kind.audience.rawValue), .text(key.host), .text(kind.code.rawValue),
                        .text(kind.platform.rawValue), .text(kind.appVersion), .text(kind.documentVersion),
                        .integer(key.hour), .integer(key.since), .integer(count.sums.count), .integer(count.sums.rated),
                        .integer(count.sums.scaled), .integer(count.sums.squares),
                    ])
            }
            for subject in waiting.replaced {
                try session.run(
                    """
                    DELETE FROM report_sample WHERE app = $1 AND audience = $2 AND host = $3 AND code = $4 \
                    AND certificate = $5 AND received_at >= $6 AND received_at < $7
                    """,
                    [
                        .text("\(subject.app)"), .text(subject.audience.rawValue), .text(subject.host),
                        .text(subject.code.rawValue), .bytes(subject.certificate.bytes),
                        .integer(subject.day * 86_400), .integer((subject.day + 1) * 86_400),
                    ])
            }
            for sample in waiting.samples {
                try session.run(
                    """
                    INSERT INTO report_sample (app, audience, host, code, certificate, received_at, octets) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7)
                    """,
                    [
                        .text("\(sample.app)"), .text(sample.audience.rawValue), .text(sample.host),
                        .text(sample.code.rawValue), .bytes(sample.certificate.bytes), .integer(sample.received),
                        .bytes(sample.bytes),
                    ])
            }
            for app in Set(waiting.samples.map(\.app)) {
                try session.run(
                    """
                    DELETE FROM report_sample WHERE app = $1 AND id NOT IN (SELECT id FROM report_sample \
                    WHERE app = $1 ORDER BY received_at DESC, id DESC LIMIT $2)
                    """, [.text("\(app)"), .integer(Self.maximumReportSamples)])
            }
        }
    }

    /// Deletes counts and samples older than thirty days.
    package func pruneReports(at now: Int64) async throws(ServerError) {
        let apps = apps
        try await engine.write { session throws(ServerError) in
            for app in apps {
                try session.run(
                    "DELETE FROM report_count WHERE app = $1 AND hour < $2",
                    [.text("\(app)"), .integer(now / 3_600 - Self.reportHours)])
                try session.run(
                    "DELETE FROM report_sample WHERE app = $1 AND received_at < $2",
                    [.text("\(app)"), .integer(now - Self.reportHours * 3_600)])
            }
        }
    }

    /// The counts of an app since an hour, regardless of the time that the reports are about.
    package func reportCounts(
        of app: AppName, sinceHour hour: Int64, limit: Int64
    ) async throws(ServerError) -> [ReportCount] {
        try await look { session, _ throws(ServerError) in
            try session.run(
                """
                SELECT audience, host, code, platform, app_version, document_version, hour, \
                CAST(sum(count) AS bigint), CAST(sum(rated) AS bigint), CAST(sum(scaled) AS bigint), \
                CAST(sum(squares) AS bigint) FROM report_count WHERE app = $1 AND hour >= $2 \
                GROUP BY audience, host, code, platform, app_version, document_version, hour \
                ORDER BY hour DESC, sum(count) DESC, host, code, audience, document_version, app_version, platform LIMIT $3
                """, [.text("\(app)"), .integer(hour), .integer(limit)]
            ).map { row throws(ServerError) in
                let kind = ReportCount.Kind(
                    try row.text(0) { ReportAudience(bytes: $0) }, try row.text(2) { ClientReport.Code(bytes: $0) },
                    try row.text(3) { ClientReport.Platform($0) }, try row.text(4) { ClientReport.version($0) },
                    try row.text(5) { ClientReport.version($0) })
                return ReportCount(
                    key: ReportCount.Key(app: app, hour: try row.integer(6), host: try row.text(1), kind: kind),
                    sums: ReportCount.Sums(
                        count: try row.integer(7), rated: try row.integer(8), scaled: try row.integer(9),
                        squares: try row.integer(10)))
            }
        }
    }

    /// The samples of an app since a time, newest first.
    package func reportSamples(
        of app: AppName, since time: Int64, limit: Int64
    ) async throws(ServerError) -> [ReportSample] {
        try await look { session, _ throws(ServerError) in
            try Self.reportSamples(of: app, since: time, limit: limit, session)
        }
    }

    /// The newest stored report of an app with a certificate, for `holdfastctl show --report`.
    /// - Parameter certificate: the SHA-256 of the leaf certificate that the server presented.
    /// - Throws: ``ServerError`` `notFound`.
    package func reportSample(of app: AppName, showing certificate: Digest) async throws(ServerError) -> [UInt8] {
        try await look { session, ledger throws(ServerError) in
            try ledger.requireApp(app)
            let row = try session.run(
                """
                SELECT octets FROM report_sample WHERE app = $1 AND certificate = $2 \
                ORDER BY received_at DESC, id DESC LIMIT 1
                """, [.text("\(app)"), .bytes(certificate.bytes)]
            ).first
            guard let row else {
                throw ServerError(
                    .notFound, of: "sample", expected: "a certificate that is in a sample of \(app)",
                    found: "\(certificate)")
            }
            return try row.bytes(0)
        }
    }

    package static func reportSamples(
        of app: AppName, since time: Int64, limit: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [ReportSample] {
        try session.run(
            """
            SELECT audience, host, code, certificate, received_at, octets FROM report_sample WHERE app = $1 \
            AND received_at >= $2 ORDER BY received_at DESC, id DESC LIMIT $3
            """, [.text("\(app)"), .integer(time), .integer(limit)]
        ).map { row throws(ServerError) in
            ReportSample(
                app: app, audience: try row.text(0) { ReportAudience(bytes: $0) }, host: try row.text(1),
                code: try row.text(2) { ClientReport.Code(bytes: $0) },
                certificate: try row.bytes(3) { Digest(bytes: $0) }, received: try row.integer(4),
                bytes: try row.bytes(5))
        }
    }
}
