/// The versions of a canary's pin files since it began, as clients report them.
package struct CanaryVersions: Sendable, Hashable {
    /// When the canary began, in seconds since 1970.
    let began: Int64
    private(set) var versions: Set<String>

    /// Maximum number of versions; a canary has fewer in its seven days, at one per hour.
    private static let maximumCount = 256

    /// - Parameters:
    ///   - began: when the canary began, in seconds since 1970.
    ///   - versions: the current versions of its documents.
    init(began: Int64, versions: Set<String>) {
        (self.began, self.versions) = (began, versions)
    }

    /// The first second at which reports without such a version count, in seconds since 1970. Reports in the hour in
    /// which the canary began may be about the previous canary.
    var firstCounted: Int64 { CanaryReports.firstHour(after: began) * 3_600 }

    /// Whether the canary had a version.
    func contains(_ version: String) -> Bool { versions.contains(version) }

    /// Adds the versions known of the same canary before, because clients report the versions of the previous day.
    package func remembering(_ before: CanaryVersions?) -> CanaryVersions {
        guard let before, before.began == began else { return self }
        var all = self
        for version in before.versions where all.versions.count < Self.maximumCount { all.versions.insert(version) }
        return all
    }
}
