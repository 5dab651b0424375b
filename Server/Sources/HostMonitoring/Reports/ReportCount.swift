package import ServerFoundation

/// The number of equal reports in an hour.
package struct ReportCount: Sendable, Hashable {
    /// The properties that the reports have in common.
    package struct Key: Sendable, Hashable {
        package let app: AppName
        /// The hour since 1970 in which they arrived.
        package let hour: Int64
        /// The label of the host; ``ReportHosts/unlisted`` for unknown hosts.
        package let host: String
        package let kind: Kind
        /// The first hour since 1970 that they are about.
        package let since: Int64

        /// - Parameter since: the first hour that they are about; nil for the hour in which they arrived.
        package init(app: AppName, hour: Int64, host: String, kind: Kind, since: Int64? = nil) {
            (self.app, self.hour, self.host, self.kind, self.since) = (app, hour, host, kind, since ?? hour)
        }
    }

    /// The first hour that a report is about. Clients may claim any time, and each value is a row, so this has at most
    /// four values per hour, and one for reports about which the difference does not matter.
    /// - Parameters:
    ///   - audience: the client's release channel; only a canary has a beginning.
    ///   - time: the time at which it arrived, in seconds since 1970.
    package static func since(_ report: ClientReport, of audience: ReportAudience, at time: Int64) -> Int64 {
        let hour = time / 3_600
        guard audience == .canary else { return hour }
        let begins: Int64
        switch report.begins {
        case nil: return hour
        case .time(let time)?: begins = time
        case .before(let seconds)?: begins = time - min(seconds, time)
        }
        guard begins / 3_600 < hour else { return hour }
        // Clients that cannot connect report late.
        if begins / 3_600 == hour - 1 { return hour - 1 }
        // A summary arrives on the next day; older times are not reliable.
        let yesterday = max(0, time / 86_400 - 1)
        return begins >= yesterday * 86_400 ? yesterday * 24 : 0
    }

    /// The content of the reports.
    package struct Kind: Sendable, Hashable {
        package let audience: ReportAudience
        package let code: ClientReport.Code
        package let platform: ClientReport.Platform
        package let appVersion: String
        package let documentVersion: String

        /// Takes the content of a report.
        package init(_ report: ClientReport, _ audience: ReportAudience) {
            self.init(audience, report.code, report.platform, report.appVersion, report.documentVersion)
        }

        package init(
            _ audience: ReportAudience, _ code: ClientReport.Code, _ platform: ClientReport.Platform,
            _ appVersion: String, _ documentVersion: String
        ) {
            (self.audience, self.code, self.platform) = (audience, code, platform)
            (self.appVersion, self.documentVersion) = (appVersion, documentVersion)
        }

        /// The same without values that clients may invent.
        package var plain: Kind { Kind(audience, code, .unknown, ClientReport.nothing, ClientReport.nothing) }
    }

    /// The sums over the reports.
    package struct Sums: Sendable, Hashable {
        /// The number of reports.
        package var count: Int64 = 0
        /// The number of reports that count for ratios.
        var rated: Int64 = 0
        /// The number of connections that they represent: the sum of their weights.
        package var scaled: Int64 = 0
        /// The sum of the squares of their weights, which determines how reliable the sum is.
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

    package let key: Key
    package let sums: Sums
}
