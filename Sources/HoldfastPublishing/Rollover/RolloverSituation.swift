public import Foundation
public import Holdfast

/// The signed, served and deployed state of one host, and the clients that may be in the field: the basis of a
/// ``RolloverAdvice``.
///
/// It evaluates nothing. Whether and when clients can connect are facts in it that come from the clients' own code: see
/// ``RolloverInputs``. It does not record which certificate is newer: a later end does not prove it.
public struct RolloverSituation: Sendable, Hashable {
    /// A key or a certificate that servers present, that is published, or that is to be deployed.
    public struct Identity: Sendable, Hashable {
        /// The name; for messages only.
        public var name: String
        /// The pin that documents contain of it.
        public var pin: Pin
        /// When clients that have its pin can connect, according to its certificates; empty if they never can.
        ///
        /// A key outlives its certificate: if the next certificate may have the same key, its time continues.
        public var validity: [Range<Date>]
        /// When the certificate of a key must have been renewed; nil for a certificate.
        public var certificateEnd: Date?
        /// Whether the operator has it, so that any server can present it.
        public var isDeployable: Bool
        /// Whether it is kept in case another one is lost.
        public var isBackup: Bool
        /// Whether its pin is to be withdrawn as soon as no server presents it.
        public var isRetiring: Bool
        /// Whether a published document contains its pin.
        public var isPublished: Bool

        /// Describes a key or certificate.
        public init(
            _ name: String, pin: Pin, validity: [Range<Date>], certificateEnd: Date? = nil, isDeployable: Bool = true,
            isBackup: Bool = false, isRetiring: Bool = false, isPublished: Bool
        ) {
            self.name = name
            self.pin = pin
            self.validity = validity
            self.certificateEnd = certificateEnd
            self.isDeployable = isDeployable
            self.isBackup = isBackup
            self.isRetiring = isRetiring
            self.isPublished = isPublished
        }

        /// The pin as people write it.
        package var pinText: String { pin.description }

        /// The SHA-256 of the pin in hexadecimal, in the form of a list.
        package var digest: String { Hexadecimal.encode(pin.digest) }
    }

    /// A server of the host: one address and one kind of key.
    public struct Server: Sendable, Hashable, Codable {
        /// Its address; for messages only.
        public var name: String
        /// The identity that it presents: an index of ``RolloverSituation/identities``.
        public var shows: Int

        /// Describes a server.
        public init(_ name: String, shows: Int) {
            self.name = name
            self.shows = shows
        }
    }

    /// The clients that may hold one document.
    public struct Clients: Sendable, Hashable, Codable {
        /// The name of the document, such as a file's name or a version of the app; for messages only.
        public var document: String
        /// When the document was published: no client held it before.
        public var published: Date
        /// When another document replaced it; nil while it is published, and for one in builds. Several are published
        /// if there are clients of several kinds.
        public var replaced: Date?
        /// Whether builds contain it, so that no update replaces it.
        public var isShipped: Bool
        /// For a document in builds: the first instant at which no client uses them, if an end is in sight.
        public var usedUntil: Date?
        /// For each identity, when the clients' own code accepts it with this document.
        public var admissions: [[Range<Date>]]

        /// Describes the clients that hold a document.
        public init(
            _ document: String, published: Date, replaced: Date? = nil, isShipped: Bool = false,
            usedUntil: Date? = nil, admissions: [[Range<Date>]]
        ) {
            self.document = document
            self.published = published
            self.replaced = replaced
            self.isShipped = isShipped
            self.usedUntil = usedUntil
            self.admissions = admissions
        }
    }

    /// The time of the advice.
    public var time: Date
    /// The subject that documents pin. A key may stay the same when its certificate is renewed; a certificate never
    /// does.
    public var pinned: Pin.Subject
    /// Maximum time for which a client may use a document after it was replaced; nil if it is unknown.
    public var staleness: Duration?
    /// How long before the last possible time a step is advised, because people need time for it.
    public var lead: Duration
    /// The keys or certificates.
    public var identities: [Identity]
    /// The servers, all of which could be probed.
    public var servers: [Server]
    /// The clients, by the documents that they may hold. At most one of these is published and not replaced.
    public var clients: [Clients]
    /// The identity that all servers should present: an index of ``identities``; nil if no change is planned.
    public var next: Int?
    /// The first instant at which no client holds a document that is not among ``clients``; nil if all documents are.
    /// Until then servers are not changed, unless fewer of the known clients refuse them after the change.
    public var unknownUntil: Date?

    /// Describes a situation.
    public init(
        at time: Date, pinned: Pin.Subject, staleness: Duration?, lead: Duration = .seconds(30 * 86_400),
        identities: [Identity], servers: [Server], clients: [Clients], next: Int? = nil,
        unknownUntil: Date? = nil
    ) {
        self.time = time
        self.pinned = pinned
        self.staleness = staleness
        self.lead = lead
        self.identities = identities
        self.servers = servers
        self.clients = clients
        self.next = next
        self.unknownUntil = unknownUntil
    }

    /// The times of a change. If the staleness is unknown, no step is advised earlier because of it.
    var timing: PublicationTiming { PublicationTiming(staleness: staleness ?? .zero) }

    /// The first instant at which no client uses a document that was replaced at an instant; never if the staleness is
    /// unknown.
    func lastUse(ofDocumentReplacedAt instant: Date) -> Date {
        staleness == nil ? .distantFuture : timing.lastUse(ofDocumentReplacedAt: instant)
    }

    /// Whether documents pin certificates, and not keys.
    package var pinsCertificates: Bool { pinned == .certificate }

    /// The identities that servers can present: those that the operator has, and those that some server already
    /// presents.
    var usable: [Bool] {
        var usable = identities.map(\.isDeployable)
        for server in servers { usable[server.shows] = true }
        return usable
    }

    /// The published documents, as indices of ``clients``.
    var published: [Int] { clients.indices.filter { !clients[$0].isShipped && clients[$0].replaced == nil } }
}
