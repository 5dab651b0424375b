package import HostMonitoring
import NIOHTTP1
package import ServerFoundation
import ServerHTTP
import ServerStore

/// The calls about client reports, and whether an app takes them.
extension AdministrationResponder {
    private static let maximumRows: Int64 = 1_000
    /// Maximum number of samples, as many as a day has, so that all unknown certificates of 24 hours are included.
    private static let maximumSamples = Int64(ReportSampler.maximumOfApp)

    func getReports(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        let days = try call.number("days", in: 1...30) ?? 1
        let members = try await refusing { [catalog] () async throws(ServerError) in
            let standing = try await catalog.reportStanding(of: app)
            let since = try await catalog.now() - days * 86_400
            var members = AdministrationView.reports(standing)
            let counts = try await catalog.reportCounts(of: app, sinceHour: since / 3_600, limit: Self.maximumRows)
            let samples = try await catalog.reportSamples(of: app, since: since, limit: Self.maximumSamples)
            members["counts"] = .array(counts.map(AdministrationView.count))
            members["samples"] = .array(samples.compactMap { try? AdministrationView.sample($0) })
            return members
        }
        return Self.json(members.map { ($0.key, $0.value) })
    }

    func switchReports(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        var fields = try call.fields()
        let settings = try await refusing { [catalog] () async throws(ServerError) in
            let settings = ReportSettings(isEnabled: try fields.boolean("enabled"))
            try fields.finish()
            // An unchanged setting must not add an entry to the audit.
            if try await catalog.reportSettings(of: app) != settings {
                try await catalog.set(settings, of: app, by: call.actor)
            }
            return settings
        }
        return Self.json([("enabled", .boolean(settings.isEnabled))])
    }
}

extension AdministrationView {
    /// The status of an app's client reports.
    package static func reports(_ standing: ReportStanding) -> [String: CanonicalJSON] {
        [
            "enabled": .boolean(standing.isEnabled), "warnings": texts(standing.warnings),
            "ratios": .array(
                standing.ratios.map { ratio in
                    .object([
                        "audience": .text(ratio.audience), "host": .text(ratio.host),
                        "document": .text(ratio.documentVersion), "reports": .integer(ratio.reports),
                        "scaled": .integer(ratio.scaled), "failures": .integer(ratio.failures),
                        "singleFailures": .integer(ratio.singleFailures),
                    ])
                }),
            "strangers": .array(
                standing.strangers.map { stranger in
                    .object([
                        "host": .text(stranger.host), "certificate": .text("\(stranger.certificate)"),
                        "hasKnownKey": .boolean(stranger.hasKnownKey), "lastReported": time(stranger.lastReported),
                    ])
                }),
        ]
    }

    package static func count(_ count: ReportCount) -> CanonicalJSON {
        let kind = count.key.kind
        return .object([
            "hour": time(count.key.hour * 3_600), "audience": .text(kind.audience.rawValue),
            "host": .text(count.key.host), "code": .text(kind.code.rawValue),
            "platform": .text(kind.platform.rawValue), "appVersion": .text(kind.appVersion),
            "document": .text(kind.documentVersion), "reports": .integer(count.sums.count),
            "scaled": .integer(count.sums.scaled),
        ])
    }

    package static func sample(_ sample: ReportSample) throws(ServerError) -> CanonicalJSON {
        .object([
            "audience": .text(sample.audience.rawValue), "host": .text(sample.host),
            "code": .text(sample.code.rawValue), "certificate": .text("\(sample.certificate)"),
            "received": time(sample.received),
            "report": try CanonicalJSONReader.read(sample.bytes, "sample", limit: ReportSample.maximumSize),
        ])
    }
}
