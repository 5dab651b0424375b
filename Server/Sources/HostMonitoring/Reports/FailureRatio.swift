/// The ratio of failed connections among those that reports represent. It describes reports, scaled by their sampling,
/// not clients: one client may send many, and they can be forged.
package struct FailureRatio: Sendable, Hashable {
    /// The number of reports, of successes and failures.
    var reports: Int64 = 0
    /// The number of failures that were reported individually. They arrive at once, and are in summaries later.
    var singleFailures: Int64 = 0
    /// The number of connections that the reports of failures represent.
    var failures: Int64 = 0
    /// The number of connections that all of these reports represent.
    var all: Int64 = 0
    /// The sum of the squares of the reports' weights.
    var squares: Int64 = 0

    /// Adds reports. Reports about pins on trial, and about connections that failed for other reasons, are ignored.
    mutating func add(_ sums: ReportCount.Sums, _ code: ClientReport.Code) {
        guard code == .ok || code.isFailure else { return }
        reports += sums.rated
        all += sums.scaled
        squares += sums.squares
        guard code.isFailure else { return }
        failures += sums.scaled
        singleFailures += sums.count - sums.rated
    }

    /// Adds another ratio.
    mutating func add(_ other: FailureRatio) {
        reports += other.reports
        singleFailures += other.singleFailures
        failures += other.failures
        all += other.all
        squares += other.squares
    }

    /// The ratio; 0 without reports.
    var value: Double { all == 0 ? 0 : Double(failures) / Double(all) }

    /// The number of reports of equal weight with the same significance (Kish 1965): one report that represents a
    /// thousand connections is not a thousand reports.
    var effectiveCount: Double { squares == 0 ? 0 : Double(all) * Double(all) / Double(squares) }

    /// The lower end of the ratio's 95 % confidence interval, after Wilson (1927). It needs no normal distribution,
    /// which does not hold for few failures.
    var lowerBound: Double {
        let count = effectiveCount
        guard count > 0 else { return 0 }
        let z = 1.959_963_985
        let (ratio, part) = (value, z * z / count)
        let margin = z * ((ratio * (1 - ratio) + part / 4) / count).squareRoot()
        return max(0, (ratio + part / 2 - margin) / (1 + part))
    }
}
