public import Holdfast

/// An error in the configuration, storage or delivery of reports.
public struct ReportingError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<ReportingError>

    /// The reason.
    public let code: Code
    /// The expected value, the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }
}

extension ReportingError.Code {
    /// A setting is invalid; ``ReportingError/expected`` names it.
    public static var invalidConfiguration: Self { Self() }
    /// A pin covers the host of a destination: if that pin is broken, no report of it would arrive.
    public static var coveredDestination: Self {
        Self("Let a collector take the reports whose host no pin covers, or take the pin of that host away.")
    }
    /// A pin file specifies an address for reports that the application did not name; nothing is sent for its hosts.
    public static var unnamedDestination: Self {
        Self("Name the address in the configuration of the reports, or correct the `report` field of the pin file.")
    }
    /// The collector refused a report (HTTP status 400 to 499); it is dropped.
    public static var refusedByCollector: Self {
        Self("Check the destination, and that it takes reports of this shape.")
    }
    /// The collector did not accept a report; it is sent again later.
    public static var notSent: Self { Self("Check that the collector can be reached.") }
    /// The reports for later delivery could not be stored.
    public static var notStored: Self { Self("Check that the data store can be written and has room.") }
}
