public import Foundation
public import Holdfast

/// The content and the destinations of the reports of a ``TrustReporter``.
public struct ReportConfiguration: Sendable {
    /// The possible destinations: at most 8 `https` URLs with a host and without a user. A pin file chooses one in its
    /// `report` field; hosts of other policies use the first. Without any, only ``onReport`` is called.
    public var destinations: [URL]
    /// The application, for example its bundle identifier: 1 to 255 bytes of printable ASCII.
    public var application: String
    /// The version of the application: 1 to 32 bytes of printable ASCII.
    public var version: String
    /// The format of reports about failures.
    public var shape = ReportShape.pinValidation
    /// Whether reports contain the presented chain and the validated path. In a network that inspects TLS, these
    /// identify the network's owner.
    public var includesChains = false
    /// Whether hosts under a pattern are named. Otherwise the pattern is named, since a name may be that of a user.
    public var namesHostsOfPatterns = false
    /// Whether counts of successes and failures are sent, once per day.
    public var sendsSummaries = true
    /// The fraction of failures that are reported for hosts of no pin file, from 0 to 1.
    public var failureFraction = 1.0
    /// The fraction of successes that are counted for hosts of no pin file, from 0 to 1.
    public var successFraction = 0.0
    /// Sends reports.
    public var sender: any ReportSender = URLSessionReportSender()
    /// The store for reports and counts across restarts, at most 512 KiB. Two processes, and two reporters of one
    /// process, need different keys.
    public var store: any SecureDataStore = FileDataStore()
    /// The storage key of reports and counts.
    public var storageKey = "reports"
    /// The clock for failures and days.
    public var clock: any WallClock = SystemWallClock()
    /// Called with each report that is new today, on the deciding thread and before the caller gets the decision: for
    /// the application's own crash reporter. It should return quickly.
    public var onReport: (@Sendable (TrustReport) -> Void)?

    /// Makes a configuration.
    public init(destinations: [URL], application: String, version: String) {
        self.destinations = destinations
        self.application = application
        self.version = version
    }

    /// Maximum number of destinations.
    private static let mostDestinations = 8

    func ledgerSettings(spread: Duration) throws(ReportingError) -> ReportLedgerSettings {
        for fraction in [failureFraction, successFraction] where !(0...1).contains(fraction) {
            throw ReportingError(
                .invalidConfiguration, expected: "fractions from 0 to 1", found: "\(fraction)",
                remedy: "Give the share of connections that are reported.")
        }
        guard destinations.count <= Self.mostDestinations else {
            throw ReportingError(
                .invalidConfiguration, expected: "at most \(Self.mostDestinations) destinations",
                found: "\(destinations.count)", remedy: "Name only collectors that a pin file may choose.")
        }
        for destination in destinations {
            do throws(PinFileError) {
                _ = try PinFile.Report(url: destination.absoluteString)
            } catch {
                throw ReportingError(
                    .invalidConfiguration, expected: error.expected, found: error.found,
                    remedy: "Name the collector by an https URL, as a pin file would.")
            }
        }
        return ReportLedgerSettings(
            application: try ReportedApplication(identifier: application, version: version),
            destinations: destinations.map(\.absoluteString),
            sampling: Observation.Sampling(failures: failureFraction, successes: successFraction),
            includesChains: includesChains, sendsSummaries: sendsSummaries, spread: spread)
    }
}
