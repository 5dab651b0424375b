public import Foundation
package import Holdfast

extension PublicationOutlook {
    /// A host that clients dial, with all chains that it presents now or is about to present.
    public struct Host: Sendable, Hashable, Codable {
        /// The name or address that is dialed.
        public var name: String
        /// The port that is dialed; nil if it is unknown.
        public var port: Int?
        /// The chains that its servers present, one for each address and kind of key, and those that they are about to
        /// present. Clients must accept all chains of a time, because they cannot choose the server that answers.
        public var shown: [Presentation]

        /// Describes a host.
        public init(_ name: String, port: Int? = nil, shown: [Presentation]) {
            self.name = name
            self.port = port
            self.shown = shown
        }
    }

    /// A chain that a server of a host presents, or is about to present.
    public struct Presentation: Sendable, Hashable, Codable {
        /// The location of the server, such as its address; for messages only.
        public var place: String
        /// The kind of the leaf's key, such as `ECDSA`; for messages only.
        public var keyKind: String
        /// DER of the certificates, leaf first; nil if the server could not be read.
        public var chain: [Data]?
        /// When it was seen. A chain that was seen over an hour ago is unknown. Ignored for a planned chain.
        public var seen: Date?
        /// The first instant at which it is presented; nil if it is presented now.
        public var start: Date?
        /// The first instant at which it is no longer presented; nil if no end is planned.
        public var end: Date?
        /// Why it could not be read, as text; nil if it was read.
        public var problem: String?

        /// Describes a chain that a server presents now.
        /// - Parameters:
        ///   - chain: DER, leaf first.
        ///   - place: the location of the server, such as its address.
        ///   - keyKind: the kind of the leaf's key.
        ///   - seen: when it was seen.
        ///   - end: the first instant at which it is no longer presented; nil if no end is planned.
        public init(_ chain: [Data], at place: String, keyKind: String = "", seen: Date?, until end: Date? = nil) {
            self.init(place, keyKind, chain, seen, nil, end, nil)
        }

        /// Describes a chain that a server is about to present.
        /// - Parameters:
        ///   - chain: DER, leaf first.
        ///   - place: the location of the server, such as its address.
        ///   - keyKind: the kind of the leaf's key.
        ///   - start: the first instant at which it is presented.
        ///   - end: the first instant at which it is no longer presented; nil if no end is planned.
        public init(
            planned chain: [Data], at place: String, keyKind: String = "", from start: Date, until end: Date? = nil
        ) {
            self.init(place, keyKind, chain, nil, start, end, nil)
        }

        package init(_ chain: PresentedChain, at place: String, keyKind: String = "", seen: Date?) {
            self.init(chain.certificates.map { Data($0) }, at: place, keyKind: keyKind, seen: seen)
        }

        /// Describes a server that could not be read: its chain is unknown.
        /// - Parameters:
        ///   - place: the location of the server, such as its address.
        ///   - problem: why, as text.
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
