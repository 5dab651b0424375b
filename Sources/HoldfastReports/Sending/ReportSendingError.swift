public import Holdfast

/// Why a report could not be sent.
public struct ReportSendingError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<ReportSendingError>

    /// The reason.
    public let code: Code
    /// The expected value, the found value, and the remedy.
    public let facts: ErrorFacts

    /// Makes an error, for senders of your own; without a remedy it gets the usual one for its code.
    public init(_ code: Code, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }
}

extension ReportSendingError.Code {
    /// The URL is not HTTPS.
    public static var insecureURL: Self { Self("Name an https URL as the destination.") }
    /// The connection could not be made, broke, or failed in TLS.
    public static var connectionFailed: Self {
        Self("Check the network, the URL and the certificate of the collector.")
    }
    /// No answer arrived within the time limit.
    public static var noAnswerInTime: Self { Self("Check the collector; the report is sent again later.") }
    /// The collector redirects. Reports go only to the configured destinations.
    public static var redirectRefused: Self { Self("Name the URL that the collector redirects to as the destination.") }
    /// The task was canceled.
    public static var canceled: Self { Self("Send again when needed.") }
}
