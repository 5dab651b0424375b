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
            rated += 1
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
