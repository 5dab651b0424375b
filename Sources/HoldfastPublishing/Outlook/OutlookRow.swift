public import Foundation

extension PublicationOutlook {
    /// Whether clients can connect.
    public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable {
        /// During the whole evaluated time, and not by grace.
        case `in`
        /// At first, but not until the end, or only by grace.
        case ending
        /// Not at the beginning.
        case out
        /// The result is unknown. Treat it as a problem.
        case unknown
    }

    /// The subset of a document's clients that a row is about.
    public enum Holders: String, Sendable, Hashable, Codable, CaseIterable {
        /// Clients that hold the published document, or the one of their build.
        case current
        /// Clients that hold a replaced document and fetched within the staleness.
        case replaced
        /// Clients that hold a replaced document and have not fetched for longer. They do not change the verdict.
        case older
        /// New clients that have only the root of their build, and must update from it.
        case beginning
    }

    /// The result for clients of one kind, with one document, on one platform, of one chain of one host.
    public struct Row: Sendable, Hashable {
        /// The host, as it is dialed; nil for a row about all hosts, such as unknown builds.
        public let host: String?
        /// The index of the host among the inputs; nil for a row about all hosts.
        public let hostIndex: Int?
        /// The location that presents the chain, with the kind of its key; nil for a row about all hosts.
        public let place: String?
        /// The index of the chain among those of the host; nil if the host presents none.
        public let presentation: Int?
        /// The index of the document among the inputs; nil if no document was evaluated.
        public let document: Int?
        /// The kind of client; nil if no document was evaluated.
        public let client: Client?
        /// The subset of the document's clients.
        public let holders: Holders
        /// The builds that contain the document.
        public let appVersions: [String]
        /// The name of the platform; nil if nothing was validated.
        public let platform: String?
        /// The evaluated spans, in the order of time and without a gap; empty if the result is unknown.
        public let spans: [Span]
        /// The summary of the spans.
        public let verdict: Verdict
        /// The first instant at which the verdict is no longer true; nil if it is true until the end.
        ///
        /// It is nil for `in`, the end of the access for `ending` (the beginning of grace, unless grace has begun), and
        /// for `out` the instant from which clients can connect.
        public let verdictEnd: Date?
        /// The first reason why access ends or is denied; nil for `in`.
        public let cause: Cause?

        /// The first evaluated instant; nil if nothing was evaluated.
        public var start: Date? { spans.first?.start }
        /// The first instant after the evaluated time; nil if nothing was evaluated.
        public var end: Date? { spans.last?.end }
    }

    /// A time during which the result for clients does not change.
    public struct Span: Sendable, Hashable, Codable {
        /// Its first instant.
        public let start: Date
        /// The first instant after it.
        public let end: Date
        /// Whether clients can connect.
        public let getsIn: Bool
        /// Whether they can connect only because a document is still accepted in its grace period.
        public let isGrace: Bool
        /// The reason why access ended at the beginning of this span or is denied; nil while clients can connect
        /// without grace.
        public let cause: Cause?
        /// Problems that are allowed on purpose, such as a mismatch that is only reported: the codes of its notices.
        public let notices: [String]
    }
}
