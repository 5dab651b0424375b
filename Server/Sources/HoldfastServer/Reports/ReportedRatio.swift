/// How often clients failed to connect to a host with a version of a document, as reports say.
public struct ReportedRatio: Sendable, Hashable {
    /// Whose clients: `everybody` or `canary`.
    public var audience: String { place.audience.rawValue }
    /// The label of the host, such as `api.example.com:443`.
    public var host: String { place.host }
    /// The version of the document; `-` if reports do not say, or for all beyond the most frequent.
    public let documentVersion: String
    /// How many reports the ratio is made of.
    public var reports: Int64 { ratio.reports }
    /// How many failures were told singly, which are in no ratio: their clients sum up the day later.
    public var singleFailures: Int64 { ratio.singleFailures }
    /// What these reports stand for, as far as they say how they were sampled.
    public var scaled: Int64 { ratio.all }
    /// What reports of failures stand for.
    public var failures: Int64 { ratio.failures }
    /// The failures of all.
    public var value: Double { ratio.value }

    let place: ReportGroup.Place
    let ratio: FailureRatio

    /// How many versions of a document are told apart; clients may invent any number.
    private static let maximumVersions = 8

    /// Whether it is said aloud: enough reports, and one of twenty at least failed for sure.
    public var isAlarming: Bool {
        ratio.reports >= CanaryReports.minimumReports && ratio.lowerBound > Self.maximumRatio
    }

    private static let maximumRatio = 0.05

    /// Puts together what rows say, the most frequent versions first.
    static func all(_ groups: [ReportGroup]) -> [ReportedRatio] {
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
