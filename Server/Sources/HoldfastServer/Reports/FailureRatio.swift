/// How many of the connections that reports stand for failed. It is said of reports, scaled by their sampling, and never of
/// clients: one client may send many, and anybody can forge them.
struct FailureRatio: Sendable, Hashable {
    /// Reports of successes and of failures that it is made of.
    var reports: Int64 = 0
    /// Failures that were told singly: they come at once, and are in summaries later.
    var singleFailures: Int64 = 0
    /// What reports of failures stand for.
    var failures: Int64 = 0
    /// What all of these reports stand for.
    var all: Int64 = 0
    /// The sum of the squares of what each stands for.
    var squares: Int64 = 0

    /// Adds reports. Those about pins on trial, and those of connections that failed for another reason, are of neither
    /// kind.
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

    /// The ratio; 0 of nothing.
    var value: Double { all == 0 ? 0 : Double(failures) / Double(all) }

    /// How many reports of equal weight would say as much (Kish 1965): a thousand that one report stands for are no
    /// thousand reports.
    var effectiveCount: Double { squares == 0 ? 0 : Double(all) * Double(all) / Double(squares) }

    /// The lower end of the interval in which the ratio is with 95 %, after Wilson (1927). It needs no normal distribution,
    /// which few failures do not have.
    var lowerBound: Double {
        let count = effectiveCount
        guard count > 0 else { return 0 }
        let z = 1.959_963_985
        let (ratio, part) = (value, z * z / count)
        let margin = z * ((ratio * (1 - ratio) + part / 4) / count).squareRoot()
        return max(0, (ratio + part / 2 - margin) / (1 + part))
    }
}
