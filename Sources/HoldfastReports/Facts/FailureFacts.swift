import Foundation
import Holdfast

/// What a report about one failure says, whatever its shape.
struct FailureFacts: Codable, Hashable, Sendable {
    /// When it happened, in seconds since 1970.
    let time: Int64
    /// The host that was dialed, or the pattern that covers it.
    let host: String
    /// The port that was dialed; 0 if it is unknown.
    let port: Int
    /// The host or domain whose pins were asked for.
    let notedHost: String
    let includesSubdomains: Bool
    /// The code of the failure.
    let code: String
    let outcome: ReportOutcome
    /// Whether a connection without a pin is rejected.
    let isEnforced: Bool
    let documentVersion: String
    /// The first instant at which the pins have expired, in seconds since 1970; nil if they never do.
    let end: Int64?
    /// The pins that were looked for: for a candidate the candidates, otherwise all that are accepted.
    let knownPins: [String]
    /// Every pin of the document's entry.
    let pins: [NamedPin]
    /// The chains, each certificate as the Base64 of its DER, leaf first; empty unless the application asks for them.
    var served: [String]
    var validated: [String]
    let application: ReportedApplication
    /// The share of failures that are reported.
    let fraction: Double
}
