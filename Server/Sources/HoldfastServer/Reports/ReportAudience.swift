/// Whose client a report is from.
enum ReportAudience: String, Sendable, Hashable, CaseIterable {
    /// Those who follow what everybody follows.
    case everybody
    /// Those who follow the canary, under the name `APP-canary`.
    case canary
}
