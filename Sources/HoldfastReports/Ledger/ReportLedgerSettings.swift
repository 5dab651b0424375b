import Foundation
import Holdfast

/// The part of the application's configuration that the ledger needs.
struct ReportLedgerSettings: Sendable {
    let application: ReportedApplication
    /// The URLs as text, the first for policies whose document names none; empty if only the callback is used.
    let destinations: [String]
    /// The sampling for hosts whose document specifies none.
    let sampling: Observation.Sampling
    let includesChains: Bool
    let sendsSummaries: Bool
    let spread: Duration

    /// The destination of reports about a decision, and their sampling. The destination is empty if only the callback
    /// is used, and nil if nothing is reported.
    func target(
        of observation: Observation
    ) -> (destination: String?, sampling: Observation.Sampling?, problem: ReportingError?) {
        switch observation.destination {
        case .nowhere: return (nil, nil, nil)
        case .unstated: return (destinations.first ?? "", sampling, nil)
        case .named(let url, let sampling):
            if destinations.isEmpty { return ("", sampling, nil) }
            // Both are short ASCII, which was checked when the file was read.
            guard let named = destinations.first(where: { $0.hasSameOctets(as: url) }) else {
                let error = ReportingError(
                    .unnamedDestination, expected: "one of the destinations that the application names",
                    found: "\(url.quotedAddress) for \(observation.host)")
                return (nil, nil, error)
            }
            return (named, sampling, nil)
        }
    }
}
