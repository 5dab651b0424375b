import HostMonitoring

/// The number of failed connections over time, by document version, as clients report it. Reports can be forged.
struct FailureHistory: Sendable {
    /// The period that the history covers.
    enum Span: Int64, Sendable, Hashable, CaseIterable {
        case day = 1
        case week = 7
        case month = 30

        /// The hours of one bar, chosen so that the start of a failure is visible and each bar can be distinguished.
        var hours: Int64 {
            switch self {
            case .day: 1
            case .week: 6
            case .month: 24
            }
        }

        /// The number of bars.
        var count: Int64 { rawValue * 24 / hours }

        /// The label of the choice.
        var words: String { self == .day ? "24 hours" : "\(rawValue) days" }
    }

    /// A version of the document.
    struct Version: Sendable, Hashable {
        /// ``ClientReport/nothing`` for reports without a version, and for all versions beyond the most frequent.
        let name: String
        /// The number of failures in each bar, oldest first.
        var failures: [Int64]
        /// The number of failures, and of all reported connections.
        var failed: Int64 = 0
        var all: Int64 = 0
    }

    let span: Span
    /// The hour since 1970 in which the first bar begins.
    let firstHour: Int64
    /// The versions, those with the most failures first.
    let versions: [Version]

    /// Maximum number of versions, because clients may invent any number.
    private static let maximumVersionCount = 8

    init(_ counts: [ReportCount], over span: Span, at now: Int64) {
        self.span = span
        // The bars end with the current hour.
        let firstHour = now / 3_600 + 1 - span.count * span.hours
        self.firstHour = firstHour
        var versions: [String: Version] = [:]
        for count in counts where count.key.hour >= firstHour {
            let place = (count.key.hour - firstHour) / span.hours
            let code = count.key.kind.code
            guard place < span.count, code == .ok || code.isFailure else { continue }
            let name = count.key.kind.documentVersion
            var version = versions[name] ?? Version(name: name, failures: Array(repeating: 0, count: Int(span.count)))
            // Failures that are reported individually have no rate, but are shown as well.
            let weight = code.isFailure ? max(count.sums.scaled, count.sums.count) : count.sums.scaled
            version.all = Self.sum(version.all, weight)
            if code.isFailure {
                version.failed = Self.sum(version.failed, weight)
                version.failures[Int(place)] = Self.sum(version.failures[Int(place)], weight)
            }
            versions[name] = version
        }
        let sorted = versions.values.sorted { ($1.failed, $1.all, $0.name) < ($0.failed, $0.all, $1.name) }
        let named = sorted.filter { $0.name != ClientReport.nothing }
        let others = named.dropFirst(Self.maximumVersionCount) + sorted.filter { $0.name == ClientReport.nothing }
        var all = Array(named.prefix(Self.maximumVersionCount))
        if var rest = others.first {
            rest = Version(
                name: ClientReport.nothing, failures: rest.failures, failed: rest.failed, all: rest.all)
            for other in others.dropFirst() {
                rest.failed = Self.sum(rest.failed, other.failed)
                rest.all = Self.sum(rest.all, other.all)
                rest.failures = zip(rest.failures, other.failures).map(Self.sum)
            }
            all.append(rest)
        }
        self.versions = all
    }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, isOver) = one.addingReportingOverflow(other)
        return isOver ? .max : sum
    }

    /// The beginning of a bar, in seconds since 1970.
    func time(ofBar place: Int) -> Int64 { (firstHour + Int64(place) * span.hours) * 3_600 }
}
