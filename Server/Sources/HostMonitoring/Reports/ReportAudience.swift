/// The release channel of the client that sent a report.
package enum ReportAudience: String, Sendable, Hashable, CaseIterable {
    /// Clients outside of the canary.
    case everybody
    /// Clients of the canary, with the name `APP-canary`.
    case canary
}
