/// How many reports of an hour have the same to say.
struct ReportCount: Sendable, Hashable {
    /// What they have in common.
    struct Key: Sendable, Hashable {
        let app: AppName
        /// The hour since 1970 in which they came.
        let hour: Int64
        /// The label of the host; ``ReportHosts/unlisted`` for hosts that the app does not have.
        let host: String
        let kind: Kind
        /// The hour since 1970 from which on they are about something.
        let since: Int64

        /// - Parameter since: the hour in which that began which they are about; nil for the one in which they came.
        init(app: AppName, hour: Int64, host: String, kind: Kind, since: Int64? = nil) {
            (self.app, self.hour, self.host, self.kind, self.since) = (app, hour, host, kind, since ?? hour)
        }
    }

    /// The hour from which on a report is about something. Clients may invent any time, and each value is a row, so there
    /// are four for each hour, and one for reports that nobody tells apart by it.
    /// - Parameters:
    ///   - audience: whose client it is: only a canary has a beginning.
    ///   - time: when it came, in seconds since 1970.
    static func since(_ report: ClientReport, of audience: ReportAudience, at time: Int64) -> Int64 {
        let hour = time / 3_600
        guard audience == .canary else { return hour }
        let begins: Int64
        switch report.begins {
        case nil: return hour
        case .time(let time)?: begins = time
        case .before(let seconds)?: begins = time - min(seconds, time)
        }
        guard begins / 3_600 < hour else { return hour }
        // Whoever cannot connect reports late.
        if begins / 3_600 == hour - 1 { return hour - 1 }
        // A summary comes the day after its own; whatever is older may be of any time.
        let yesterday = max(0, time / 86_400 - 1)
        return begins >= yesterday * 86_400 ? yesterday * 24 : 0
    }

    /// What they say.
    struct Kind: Sendable, Hashable {
        let audience: ReportAudience
        let code: ClientReport.Code
        let platform: ClientReport.Platform
        let appVersion: String
        let documentVersion: String

        /// Takes what a report says.
        init(_ report: ClientReport, _ audience: ReportAudience) {
            self.init(audience, report.code, report.platform, report.appVersion, report.documentVersion)
        }

        init(
            _ audience: ReportAudience, _ code: ClientReport.Code, _ platform: ClientReport.Platform,
            _ appVersion: String, _ documentVersion: String
        ) {
            (self.audience, self.code, self.platform) = (audience, code, platform)
            (self.appVersion, self.documentVersion) = (appVersion, documentVersion)
        }

        /// The same without what clients may invent.
        var plain: Kind { Kind(audience, code, .unknown, ClientReport.nothing, ClientReport.nothing) }
    }

    /// What is added up.
    struct Sums: Sendable, Hashable {
        /// Reports.
        var count: Int64 = 0
        /// Those of them that rates are made of.
        var rated: Int64 = 0
        /// What these stand for: the sum of their weights.
        var scaled: Int64 = 0
        /// The sum of the squares of their weights, which says how much the sum can be relied on.
        var squares: Int64 = 0

        /// Adds one report.
        mutating func add(_ report: ClientReport) {
            count += 1
            guard report.isRated else { return }
            if report.isVote { rated += 1 }
            scaled += report.weight
            squares += report.weight * report.weight
        }

        static func += (sums: inout Sums, other: Sums) {
            sums.count += other.count
            sums.rated += other.rated
            sums.scaled += other.scaled
            sums.squares += other.squares
        }
    }

    let key: Key
    let sums: Sums
}
