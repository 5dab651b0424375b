/// The versions that the pin files of a canary have had since it began, as clients report them.
struct CanaryVersions: Sendable, Hashable {
    /// When the canary began, in seconds since 1970.
    let began: Int64
    private(set) var versions: Set<String>

    /// More than a canary has in its seven days, at one an hour.
    private static let maximumCount = 256

    /// - Parameters:
    ///   - began: when the canary began, in seconds since 1970.
    ///   - versions: those that its documents have now.
    init(began: Int64, versions: Set<String>) {
        (self.began, self.versions) = (began, versions)
    }

    /// The first second from which on reports without such a version count, in seconds since 1970: nobody knows of those in
    /// the hour in which the canary began which canary they are about.
    var firstCounted: Int64 { CanaryReports.firstHour(after: began) * 3_600 }

    /// Whether the canary has had a version.
    func contains(_ version: String) -> Bool { versions.contains(version) }

    /// The same with what was known of the same canary before: clients report what they had a day ago.
    func remembering(_ before: CanaryVersions?) -> CanaryVersions {
        guard let before, before.began == began else { return self }
        var all = self
        for version in before.versions where all.versions.count < Self.maximumCount { all.versions.insert(version) }
        return all
    }
}
