/// Counts reports in memory until they are written down. Whatever strangers send, it has a bounded number of rows: what too
/// many reports of a day say differently is counted without what they may invent.
struct ReportTally: Sendable {
    /// What waits to be written.
    struct Waiting: Sendable {
        let counts: [ReportCount]
        let samples: [ReportSample]
        /// Samples that were written, and are to be removed before these are.
        let replaced: Set<ReportSample.Subject>

        var isEmpty: Bool { counts.isEmpty && samples.isEmpty && replaced.isEmpty }
    }

    private struct Place: Sendable, Hashable {
        let app: AppName
        let host: String
    }

    /// How many kinds of reports a host has in a day, apart from those that say nothing that could be invented.
    static let maximumKinds = 64
    /// The same for all hosts of an app.
    static let maximumKindsOfApp = 2_048

    private var day: Int64 = 0
    private var places: [Place: Set<ReportCount.Kind>] = [:]
    private var kinds: [AppName: Int] = [:]
    private var sampler = ReportSampler()
    private var generator: any RandomNumberGenerator & Sendable
    private var rows: [ReportCount.Key: ReportCount.Sums] = [:]
    private var samples: [ReportSample] = []
    /// What was written and lost its place.
    private var replaced: Set<ReportSample.Subject> = []

    /// - Parameter generator: draws what is kept as a sample.
    init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// How many rows wait to be written.
    var rowCount: Int { rows.count }
    /// How many samples wait to be written.
    var sampleCount: Int { samples.count }

    /// Counts a report.
    /// - Parameters:
    ///   - report: what a client says.
    ///   - app: the app.
    ///   - audience: whose client it is.
    ///   - host: the label of its host; nil for one that the app does not have.
    ///   - source: what tells its source from others.
    ///   - time: when it came, in seconds since 1970.
    mutating func add(
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

    /// Takes what is written already, so that a restart is no new day.
    mutating func remember(_ counts: [ReportCount], _ kept: [ReportSample], at time: Int64) {
        begin(day: time / 86_400)
        for count in counts where count.key.hour / 24 == day && count.key.host != ReportHosts.unlisted {
            _ = admits(count.key.kind, at: Place(app: count.key.app, host: count.key.host))
        }
        for subject in kept.map(\.subject) where subject.day == day { sampler.remember(subject) }
    }

    /// Takes what waits to be written.
    mutating func takeAll() -> Waiting {
        defer { (rows, samples, replaced) = ([:], [], []) }
        return Waiting(
            counts: rows.map { ReportCount(key: $0.key, sums: $0.value) }, samples: samples, replaced: replaced)
    }

    /// Gives back what could not be written.
    mutating func giveBack(_ waiting: Waiting) {
        for count in waiting.counts { rows[count.key, default: ReportCount.Sums()] += count.sums }
        // Some may have lost their places meanwhile.
        samples = waiting.samples.filter { !replaced.contains($0.subject) } + samples
        replaced.formUnion(waiting.replaced)
        // A database that cannot be written for days is no reason to need ever more memory.
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
