/// Decides what the reports about a canary are good for, so that a few strangers who repeat themselves hold none: each source
/// has one vote for a document in a day, and a version that the canary never had is no document of it.
///
/// A body is one client's. Of its reports about a document each host and kind counts once, and one of them is the vote, a
/// failure if there is one: what a client says about many hosts is no more than one client's word.
struct CanaryVotes: Sendable {
    /// A voter, as ``ReportIntake`` distinguishes sources.
    struct Voter: Sendable, Hashable {
        /// The /24 of an IPv4 address, the /48 of an IPv6 address.
        let site: UInt64
        /// The /32 of an IPv6 address; nil for IPv4.
        let provider: UInt64?
    }

    private struct Vote: Hashable {
        let app: AppName
        let document: String
        let network: UInt64
    }

    private struct Subject: Hashable {
        let document: String
        let host: String
        let code: ClientReport.Code
    }

    /// How many votes of a day are remembered. Nobody votes beyond that, which holds no canary.
    static let maximumCount = 65_536
    /// The votes of a /32 for a document in a day: its owner has as many /48 as a canary needs reports, and more.
    static let maximumOfProvider = Int(CanaryReports.minimumReports) / 4

    private var day: Int64 = 0
    private var voted: Set<Vote> = []
    private var ofProviders: [Vote: Int] = [:]

    /// How many votes of the day are remembered.
    var count: Int { voted.count }

    /// Says of the reports of one body which of them ratios are made of, and which are votes.
    /// - Parameters:
    ///   - reports: the reports, each with the label of its host; nil for a host that the app does not have.
    ///   - app: the app.
    ///   - versions: those of the canary; nil if there is none.
    ///   - voter: who sent them.
    ///   - time: when they came, in seconds since 1970.
    mutating func count(
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
            // A report of a time that does not count must not use up the day's vote.
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
                // The source has said so today.
                for (other, (report, _)) in counted.enumerated()
                where Self.document(of: report, versions) == document {
                    counted[other].report.isRated = false
                }
            }
        }
        return counted
    }

    /// The document that a report is about: a version of the canary, or nothing that is known, as formats have it that have no
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
