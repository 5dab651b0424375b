public import Foundation

extension PublicationOutlook {
    /// Whether clients get in.
    public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable {
        /// All the time that was judged, and not by grace.
        case `in`
        /// At first, but not until the end, or by grace alone.
        case ending
        /// Not at first.
        case out
        /// Nobody can say. It is never good news.
        case unknown
    }

    /// Which of a document's clients a row is about.
    public enum Holders: String, Sendable, Hashable, Codable, CaseIterable {
        /// Those that hold the published document, or the one of their build.
        case current
        /// Those that hold a replaced document and asked within the staleness.
        case replaced
        /// Those that hold a replaced document and have not asked for longer. They do not change the verdict.
        case older
        /// Those that begin with nothing but the root of their build, and must follow a repository from it.
        case beginning
    }

    /// How clients of one kind, with one document, on one platform, fare with one chain of one host.
    public struct Row: Sendable, Hashable {
        /// The host, as it is dialed; nil for what concerns all of them, such as unknown builds.
        public let host: String?
        /// The index of the host among the inputs; nil for what concerns all of them.
        public let hostIndex: Int?
        /// Where the chain is shown, with the kind of its key; nil for what concerns all of them.
        public let place: String?
        /// The index of the chain among those of the host; nil if the host shows none.
        public let presentation: Int?
        /// The index of the document among the inputs; nil if no document was judged.
        public let document: Int?
        /// The kind of client; nil if no document was judged.
        public let client: Client?
        /// Which of the document's clients.
        public let holders: Holders
        /// The builds that carry the document.
        public let appVersions: [String]
        /// The name of the platform; nil if nothing was validated.
        public let platform: String?
        /// What was judged, in the order of time and without a gap; empty if it is unknown.
        public let spans: [Span]
        /// What the spans amount to.
        public let verdict: Verdict
        /// The first instant at which what the verdict says no longer holds; nil if it holds until the end.
        ///
        /// For `in` it is nil, for `ending` the end of the access (the beginning of grace, unless grace has begun), for
        /// `out` the instant from which clients get in.
        public let verdictEnd: Date?
        /// What ends the access first, or why there is none; nil for `in`.
        public let cause: Cause?

        /// The first instant that was judged; nil if nothing was.
        public var start: Date? { spans.first?.start }
        /// The first instant that was not judged anymore; nil if nothing was.
        public var end: Date? { spans.last?.end }
    }

    /// A time during which clients fare the same.
    public struct Span: Sendable, Hashable, Codable {
        /// Its first instant.
        public let start: Date
        /// The first instant after it.
        public let end: Date
        /// Whether clients get in.
        public let getsIn: Bool
        /// Whether they get in only because a document is still accepted after its time.
        public let isGrace: Bool
        /// What ended the access when this began, or why there is none; nil while clients get in without grace.
        public let cause: Cause?
        /// What is let through on purpose, such as a mismatch that is only reported: the codes of its notices.
        public let notices: [String]
    }
}
