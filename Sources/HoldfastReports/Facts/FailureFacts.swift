import Foundation
import Holdfast

/// The content of a report about one failure, in any shape.
struct FailureFacts: Codable, Hashable, Sendable {
    /// The time of the failure, in seconds since 1970.
    let time: Int64
    /// The dialed host, or the pattern that covers it.
    let host: String
    /// The dialed port; 0 if it is unknown.
    let port: Int
    /// The host or domain whose pins were used.
    let notedHost: String
    let includesSubdomains: Bool
    /// The code of the failure.
    let code: String
    let outcome: ReportOutcome
    /// Whether a connection without a matching pin is rejected.
    let isEnforced: Bool
    let documentVersion: String
    /// The first instant at which the pins have expired, in seconds since 1970; nil if they never do.
    let end: Int64?
    /// The pins that were searched: for a candidate the candidates, otherwise all accepted ones.
    let knownPins: [String]
    /// Every pin of the document's entry.
    let pins: [NamedPin]
    /// The chains, each certificate as the Base64 of its DER, leaf first; empty unless the application enables them.
    var served: [String]
    var validated: [String]
    let application: ReportedApplication
    /// The share of failures that are reported.
    let fraction: Double
}
