/// How a report is written. docs/reports.md of the package describes each octet by octet.
///
/// Summaries of a day have one shape of their own, whichever this is.
public enum ReportShape: String, Sendable, Hashable, CaseIterable {
    /// RFC 7469 section 3, with the version of the document and the role and state of each pin.
    case pinValidation
    /// Network Error Logging, a report of the Reporting API: what collectors of browsers' reports take.
    case networkErrorLogging
    /// What TrustKit sends, with the same additions. It names no vendor identifier of the device: that is all zeros.
    case trustKit

    /// The media type of a body.
    public var contentType: String {
        self == .networkErrorLogging ? "application/reports+json" : "application/json"
    }
}
