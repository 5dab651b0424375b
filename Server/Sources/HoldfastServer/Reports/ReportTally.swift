/// Counts reports in memory until they are written down. Whatever strangers send, it has a bounded number of rows: what too
/// many reports of a day say differently is counted without what they may invent.
struct ReportTally: Sendable {
    /// What is different about a host in a day: its kinds of reports, and the certificates that were kept.
    private struct Day: Sendable {
        var kinds: Set<ReportCount.Kind> = []
        var samples: Set<Sample> = []
    }

    private struct Place: Sendable, Hashable {
        let app: AppName
        let host: String
    }

    private struct Sample: Sendable, Hashable {
        let audience: ReportAudience
        let code: ClientReport.Code
        let certificate: Digest
    }

    /// How many kinds of reports a host has in a day, apart from those that say nothing that could be invented.
    static let greatestKinds = 64
    /// The same for all hosts of an app.
    static let greatestKindsOfApp = 2_048
    /// How many certificates are kept for a host in a day.
    static let greatestSamples = 8
    /// The same for all hosts of an app.
    static let greatestSamplesOfApp = 64

    private var day: Int64 = 0
    private var days: [Place: Day] = [:]
    private var kinds: [AppName: Int] = [:]
    private var kept: [AppName: Int] = [:]
    private var rows: [ReportCount.Key: ReportCount.Sums] = [:]
    private var samples: [ReportSample] = []

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
    ///   - time: when it came, in seconds since 1970.
    mutating func add(
        _ report: ClientReport, of app: AppName, _ audience: ReportAudience, on host: String?, at time: Int64
    ) {
        begin(day: time / 86_400)
        let said = ReportCount.Kind(report, audience)
        let kind = host.flatMap { host in admits(said, at: Place(app: app, host: host)) ? said : nil } ?? said.plain
        let key = ReportCount.Key(app: app, hour: time / 3_600, host: host ?? ReportHosts.unlisted, kind: kind)
        rows[key, default: ReportCount.Sums()].add(report)
        guard let host, report.code != .ok,
            let sample = ReportSample(report, of: app, audience, on: host, at: time)
        else { return }
        keep(sample)
    }

    /// Takes what is written already, so that a restart is no new day.
    mutating func remember(_ counts: [ReportCount], _ kept: [ReportSample], at time: Int64) {
        begin(day: time / 86_400)
        for count in counts where count.key.hour / 24 == day && count.key.host != ReportHosts.unlisted {
            _ = admits(count.key.kind, at: Place(app: count.key.app, host: count.key.host))
        }
        for sample in kept where sample.received / 86_400 == day { _ = admits(sample) }
    }

    /// Takes what waits to be written.
    mutating func takeAll() -> (counts: [ReportCount], samples: [ReportSample]) {
        defer {
            rows = [:]
            samples = []
        }
        return (rows.map { ReportCount(key: $0.key, sums: $0.value) }, samples)
    }

    /// Gives back what could not be written.
    mutating func giveBack(_ counts: [ReportCount], _ samples: [ReportSample]) {
        for count in counts { rows[count.key, default: ReportCount.Sums()] += count.sums }
        self.samples += samples
        // A database that cannot be written for days is no reason to need ever more memory.
        guard rows.count > Self.greatestRows else { return }
        let oldest = rows.keys.map(\.hour).sorted()[rows.count - Self.greatestRows]
        rows = rows.filter { $0.key.hour > oldest }
        self.samples.removeFirst(max(0, self.samples.count - Self.greatestSamplesOfApp))
    }

    private static let greatestRows = 65_536

    private mutating func begin(day: Int64) {
        guard day != self.day else { return }
        self.day = day
        (days, kinds, kept) = ([:], [:], [:])
    }

    private mutating func admits(_ kind: ReportCount.Kind, at place: Place) -> Bool {
        let known = days[place]?.kinds ?? []
        if known.contains(kind) || kind == kind.plain { return true }
        guard known.count < Self.greatestKinds, kinds[place.app, default: 0] < Self.greatestKindsOfApp else {
            return false
        }
        days[place, default: Day()].kinds.insert(kind)
        kinds[place.app, default: 0] += 1
        return true
    }

    private mutating func keep(_ sample: ReportSample) {
        if admits(sample) { samples.append(sample) }
    }

    private mutating func admits(_ sample: ReportSample) -> Bool {
        let place = Place(app: sample.app, host: sample.host)
        let known = days[place]?.samples ?? []
        let one = Sample(audience: sample.audience, code: sample.code, certificate: sample.certificate)
        guard !known.contains(one), known.count < Self.greatestSamples,
            kept[sample.app, default: 0] < Self.greatestSamplesOfApp
        else { return false }
        days[place, default: Day()].samples.insert(one)
        kept[sample.app, default: 0] += 1
        return true
    }
}
