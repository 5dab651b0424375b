/// The format of a report. docs/reports.md of the package describes each byte by byte.
///
/// Summaries of a day have one separate format in all cases.
public enum ReportShape: String, Sendable, Hashable, CaseIterable {
    /// RFC 7469 section 3, with the version of the document and the role and state of each pin.
    case pinValidation
    /// Network Error Logging, a report of the Reporting API: the format for collectors of browsers' reports.
    case networkErrorLogging
    /// TrustKit's format, with the same additions. The vendor identifier of the device is all zeros.
    case trustKit

    /// The media type of a body.
    public var contentType: String {
        self == .networkErrorLogging ? "application/reports+json" : "application/json"
    }
}
