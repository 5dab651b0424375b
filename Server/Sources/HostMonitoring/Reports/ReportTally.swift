package import ServerFoundation
import ServerModel

/// Counts reports in memory until they are stored. The number of rows is bounded, whatever clients send: beyond the
/// maximum number of kinds per day, reports are counted without the values that clients may invent.
package struct ReportTally: Sendable {
    /// Counts and samples that are not stored yet.
    package struct Waiting: Sendable {
        package let counts: [ReportCount]
        package let samples: [ReportSample]
        /// Stored samples to delete before the new ones are stored.
        package let replaced: Set<ReportSample.Subject>

        package var isEmpty: Bool { counts.isEmpty && samples.isEmpty && replaced.isEmpty }
    }

    private struct Place: Sendable, Hashable {
        let app: AppName
        let host: String
    }

    /// Maximum number of kinds of reports per host and day, not counting kinds without values that clients may invent.
    static let maximumKinds = 64
    /// Maximum number of kinds of reports per app and day.
    package static let maximumKindsOfApp = 2_048

    private var day: Int64 = 0
    private var places: [Place: Set<ReportCount.Kind>] = [:]
    private var kinds: [AppName: Int] = [:]
    private var sampler = ReportSampler()
    private var generator: any RandomNumberGenerator & Sendable
    private var rows: [ReportCount.Key: ReportCount.Sums] = [:]
    private var samples: [ReportSample] = []
    /// The stored samples that were replaced.
    private var replaced: Set<ReportSample.Subject> = []

    /// - Parameter generator: selects samples.
    package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// The number of rows that are not stored yet.
    package var rowCount: Int { rows.count }
    /// The number of samples that are not stored yet.
    package var sampleCount: Int { samples.count }

    /// Counts a report.
    /// - Parameters:
    ///   - report: the report of a client.
    ///   - app: the app.
    ///   - audience: the client's release channel.
    ///   - host: the label of its host; nil for an unknown host.
    ///   - source: the tag of its source.
    ///   - time: the time at which it arrived, in seconds since 1970.
    package mutating func add(
        _ report: ClientReport, of app: AppName, _ audience: ReportAudience, on host: String?, from source: UInt64,
        at time: Int64
    ) {
        begin(day: time / 86_400)
        let said = ReportCount.Kind(report, audience)
        let kind = host.flatMap { host in admits(said, at: Place(app: app, host: host)) ? said : nil } ?? said.plain
        let key = ReportCount.Key(
            app: app, hour: time / 3_600, host: host ?? ReportHosts.unlisted, kind: kind,
            since: ReportCount.since(report, of: audience, at: time))
        rows[key, default: ReportCount.Sums()].add(report)
        guard let host, report.code != .ok,
            let sample = ReportSample(report, of: app, audience, on: host, at: time)
        else { return }
        switch sampler.decide(sample.subject, from: source, using: &generator) {
        case .left: return
        case .kept: break
        case .keptFor(let old):
            let count = samples.count
            samples.removeAll { $0.subject == old }
            if samples.count == count { replaced.insert(old) }
        }
        samples.append(sample)
    }

    /// Loads what is already stored, so that a restart does not reset the day's limits.
    package mutating func remember(_ counts: [ReportCount], _ kept: [ReportSample], at time: Int64) {
        begin(day: time / 86_400)
        for count in counts where count.key.hour / 24 == day && count.key.host != ReportHosts.unlisted {
            _ = admits(count.key.kind, at: Place(app: count.key.app, host: count.key.host))
        }
        for subject in kept.map(\.subject) where subject.day == day { sampler.remember(subject) }
    }

    /// Removes and returns what is not stored yet.
    package mutating func takeAll() -> Waiting {
        defer { (rows, samples, replaced) = ([:], [], []) }
        return Waiting(
            counts: rows.map { ReportCount(key: $0.key, sums: $0.value) }, samples: samples, replaced: replaced)
    }

    /// Takes back what could not be stored.
    package mutating func giveBack(_ waiting: Waiting) {
        for count in waiting.counts { rows[count.key, default: ReportCount.Sums()] += count.sums }
        // Some may have been replaced in the meantime.
        samples = waiting.samples.filter { !replaced.contains($0.subject) } + samples
        replaced.formUnion(waiting.replaced)
        // If the database is not writable for days, memory use must not grow without limit.
        samples.removeFirst(max(0, samples.count - Self.maximumSamples))
        guard rows.count > Self.maximumRows else { return }
        let oldest = rows.keys.map(\.hour).sorted()[rows.count - Self.maximumRows]
        rows = rows.filter { $0.key.hour > oldest }
    }

    private static let maximumRows = 65_536
    private static let maximumSamples = 1_024

    private mutating func begin(day: Int64) {
        guard day != self.day else { return }
        self.day = day
        (places, kinds, sampler) = ([:], [:], ReportSampler())
    }

    private mutating func admits(_ kind: ReportCount.Kind, at place: Place) -> Bool {
        let known = places[place] ?? []
        if known.contains(kind) || kind == kind.plain { return true }
        guard known.count < Self.maximumKinds, kinds[place.app, default: 0] < Self.maximumKindsOfApp else {
            return false
        }
        places[place, default: []].insert(kind)
        kinds[place.app, default: 0] += 1
        return true
    }
}
