import ServerModel

/// The reported ratio of failed connections to a host with a version of a document.
package struct ReportedRatio: Sendable, Hashable {
    /// The release channel of the clients.
    package var audience: String { place.audience.rawValue }
    /// The label of the host, such as `api.example.com:443`.
    package var host: String { place.host }
    /// The version of the document; `-` for reports without a version, and for all versions beyond the most frequent.
    package let documentVersion: String
    /// The number of reports.
    package var reports: Int64 { ratio.reports }
    /// The number of individually reported failures, which are not in the ratio: daily summaries include them.
    package var singleFailures: Int64 { ratio.singleFailures }
    /// The number of connections that the reports represent, according to their sampling.
    package var scaled: Int64 { ratio.all }
    /// The number of failed connections that the reports represent.
    package var failures: Int64 { ratio.failures }
    /// The ratio of failed connections.
    package var value: Double { ratio.value }

    package let place: ReportGroup.Place
    package let ratio: FailureRatio

    /// Maximum number of distinguished versions, because clients may invent any number.
    private static let maximumVersions = 8

    /// Whether it is a warning: there are enough reports, and at least 5 % failed with 95 % confidence.
    var isAlarming: Bool {
        ratio.reports >= CanaryReports.minimumReports && ratio.lowerBound > Self.maximumRatio
    }

    private static let maximumRatio = 0.05

    /// Combines groups to ratios, the most frequent versions separately.
    package static func all(_ groups: [ReportGroup]) -> [ReportedRatio] {
        var places: [ReportGroup.Place: [String: FailureRatio]] = [:]
        for group in groups where group.place.host != ReportHosts.unlisted {
            places[group.place, default: [:]][group.documentVersion, default: FailureRatio()]
                .add(group.sums, group.code)
        }
        var all: [ReportedRatio] = []
        for (place, versions) in places {
            let sorted = versions.filter { $0.value.reports + $0.value.singleFailures > 0 }.sorted {
                ($1.value.reports, $0.key) < ($0.value.reports, $1.key)
            }
            var others = FailureRatio()
            for (index, (version, ratio)) in sorted.enumerated() {
                guard index >= maximumVersions || version == ClientReport.nothing else {
                    all.append(ReportedRatio(documentVersion: version, place: place, ratio: ratio))
                    continue
                }
                others.add(ratio)
            }
            guard others.reports + others.singleFailures > 0 else { continue }
            all.append(ReportedRatio(documentVersion: ClientReport.nothing, place: place, ratio: others))
        }
        return all.sorted {
            ($0.host, $0.audience, $0.documentVersion) < ($1.host, $1.audience, $1.documentVersion)
        }
    }
}
