package import ServerFoundation

/// Decides which reports about a canary count, so that a few strangers cannot hold it with repeated reports. Each
/// source has one vote per document and day, and ratios exclude reports about versions that the canary never had.
///
/// A body comes from one client. Among its reports about a document, each host and kind counts once, and one report is
/// the vote: a failure if there is one. Reports about many hosts are still those of one client.
package struct CanaryVotes: Sendable {
    /// A voter, as ``ReportIntake`` distinguishes sources.
    package struct Voter: Sendable, Hashable {
        /// The /24 of an IPv4 address, the /48 of an IPv6 address.
        package let site: UInt64
        /// The /32 of an IPv6 address; nil for IPv4.
        package let provider: UInt64?

        package init(site: UInt64, provider: UInt64?) {
            self.site = site
            self.provider = provider
        }
    }

    package struct Vote: Hashable {
        let app: AppName
        let document: String
        let network: UInt64
    }

    private struct Subject: Hashable {
        let document: String
        let host: String
        let code: ClientReport.Code
    }

    /// Maximum number of remembered votes per day. Further votes are ignored, which cannot hold a canary.
    package static let maximumCount = 65_536
    /// Maximum number of votes of a /32 per document and day: it contains more /48 than a canary needs reports.
    static let maximumOfProvider = Int(CanaryReports.minimumReports) / 4

    private var day: Int64 = 0
    private var voted: Set<Vote> = []
    private var ofProviders: [Vote: Int] = [:]

    package init(day: Int64 = 0, voted: Set<Vote> = [], ofProviders: [Vote: Int] = [:]) {
        self.day = day
        self.voted = voted
        self.ofProviders = ofProviders
    }

    /// The number of remembered votes of the day.
    package var count: Int { voted.count }

    /// Marks which reports of one body count for ratios, and which are votes.
    /// - Parameters:
    ///   - reports: the reports, each with the label of its host; nil for a host that the app does not have.
    ///   - app: the app of the reports.
    ///   - versions: the versions of the canary; nil if there is none.
    ///   - voter: the source of the reports.
    ///   - time: the time at which they arrived, in seconds since 1970.
    package mutating func count(
        _ reports: [(report: ClientReport, host: String?)], of app: AppName, _ versions: CanaryVersions?,
        from voter: Voter, at time: Int64
    ) -> [(report: ClientReport, host: String?)] {
        begin(day: time / 86_400)
        var counted = reports
        var seen: Set<Subject> = []
        var votes: [String: Int] = [:]
        for (index, (report, host)) in reports.enumerated() {
            counted[index].report.isVote = false
            guard report.isRated else { continue }
            let document = Self.document(of: report, versions)
            guard let document, let host,
                seen.insert(Subject(document: document, host: host, code: report.code)).inserted
            else {
                counted[index].report.isRated = false
                continue
            }
            // A report about a time that does not count must not use up the day's vote.
            guard document != ClientReport.nothing || versions.map({ time >= $0.firstCounted }) == true else {
                continue
            }
            if let other = votes[document], reports[other].report.code.isFailure || !report.code.isFailure { continue }
            votes[document] = index
        }
        for (document, index) in votes {
            if vote(for: document, of: app, voter) {
                counted[index].report.isVote = true
            } else {
                // The source has no further vote on this document today.
                for (other, (report, _)) in counted.enumerated()
                where Self.document(of: report, versions) == document {
                    counted[other].report.isRated = false
                }
            }
        }
        return counted
    }

    /// The document that a report is about: a version of the canary, or ``ClientReport/nothing`` for formats without
    /// such versions; nil for another version of a pin file.
    private static func document(of report: ClientReport, _ versions: CanaryVersions?) -> String? {
        let version = report.documentVersion
        if versions?.contains(version) == true { return version }
        return CanaryReports.time(ofVersion: version) == nil ? ClientReport.nothing : nil
    }

    private mutating func vote(for document: String, of app: AppName, _ voter: Voter) -> Bool {
        let vote = Vote(app: app, document: document, network: voter.site)
        guard voted.count < Self.maximumCount, !voted.contains(vote) else { return false }
        if let provider = voter.provider {
            let all = Vote(app: app, document: document, network: provider)
            guard ofProviders[all, default: 0] < Self.maximumOfProvider else { return false }
            ofProviders[all, default: 0] += 1
        }
        voted.insert(vote)
        return true
    }

    private mutating func begin(day: Int64) {
        guard day != self.day else { return }
        self.day = day
        (voted, ofProviders) = ([], [:])
    }
}
