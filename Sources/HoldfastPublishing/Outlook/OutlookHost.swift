public import Foundation
package import Holdfast

extension PublicationOutlook {
    /// A host that clients dial, with all that it shows and is about to show.
    public struct Host: Sendable, Hashable, Codable {
        /// The name or address that is dialed.
        public var name: String
        /// The port that is dialed; nil if it is not known.
        public var port: Int?
        /// What its servers show, one for each address and kind of key, and what they are about to show. All that may be
        /// shown at a time must let clients in: nobody chooses the server that answers.
        public var shown: [Presentation]

        /// Describes a host.
        public init(_ name: String, port: Int? = nil, shown: [Presentation]) {
            self.name = name
            self.port = port
            self.shown = shown
        }
    }

    /// A chain that a server of a host shows, or is about to show.
    public struct Presentation: Sendable, Hashable, Codable {
        /// Where, such as the address; for words only.
        public var place: String
        /// The kind of the leaf's key, such as `ECDSA`; for words only.
        public var keyKind: String
        /// DER of the certificates, leaf first; nil if the server could not be read.
        public var chain: [Data]?
        /// When it was seen. What was seen over an hour ago is unknown. Of no meaning for what is yet to come.
        public var seen: Date?
        /// The first instant at which it is shown; nil for what is shown now.
        public var start: Date?
        /// The first instant at which it is no longer shown; nil if no end is planned.
        public var end: Date?
        /// Why it could not be read, in words; nil if it was.
        public var problem: String?

        /// Describes what a server shows now.
        /// - Parameters:
        ///   - chain: DER, leaf first.
        ///   - place: where, such as the address.
        ///   - keyKind: the kind of the leaf's key.
        ///   - seen: when it was seen.
        ///   - end: the first instant at which it is no longer shown; nil if no end is planned.
        public init(_ chain: [Data], at place: String, keyKind: String = "", seen: Date?, until end: Date? = nil) {
            self.init(place, keyKind, chain, seen, nil, end, nil)
        }

        /// Describes what a server is about to show.
        /// - Parameters:
        ///   - chain: DER, leaf first.
        ///   - place: where, such as the address.
        ///   - keyKind: the kind of the leaf's key.
        ///   - start: the first instant at which it is shown.
        ///   - end: the first instant at which it is no longer shown; nil if no end is planned.
        public init(
            planned chain: [Data], at place: String, keyKind: String = "", from start: Date, until end: Date? = nil
        ) {
            self.init(place, keyKind, chain, nil, start, end, nil)
        }

        package init(_ chain: PresentedChain, at place: String, keyKind: String = "", seen: Date?) {
            self.init(chain.certificates.map { Data($0) }, at: place, keyKind: keyKind, seen: seen)
        }

        /// Describes a server that could not be read: what it shows is unknown.
        /// - Parameters:
        ///   - place: where, such as the address.
        ///   - problem: why, in words.
        public init(unreadable place: String, because problem: String) {
            self.init(place, "", nil, nil, nil, nil, problem)
        }

        private init(
            _ place: String, _ keyKind: String, _ chain: [Data]?, _ seen: Date?, _ start: Date?, _ end: Date?,
            _ problem: String?
        ) {
            self.place = place
            self.keyKind = keyKind
            self.chain = chain
            self.seen = seen
            self.start = start
            self.end = end
            self.problem = problem
        }
    }
}
