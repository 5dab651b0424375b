public import Foundation
public import Holdfast

/// What is signed, served and deployed for one host, and which clients may be out there: what a ``RolloverAdvice`` rests
/// on.
///
/// It judges nothing. Whether clients get in, and when, are facts in it that come from the clients' own code: see
/// ``RolloverInputs``. Which certificate ends later is no fact about which of them is newer, and there is no such fact
/// here.
public struct RolloverSituation: Sendable, Hashable {
    /// A key or a certificate that servers show, that is published, or that is to be deployed.
    public struct Identity: Sendable, Hashable {
        /// What people call it; for words only.
        public var name: String
        /// What documents pin of it.
        public var pin: Pin
        /// When clients that have its pin get in, as its certificates allow; empty if they never do.
        ///
        /// A key outlives its certificate: if the next certificate may have the same key, its time goes on.
        public var validity: [Range<Date>]
        /// When the certificate with it must have been renewed, for a key that outlives it; nil for a certificate.
        public var certificateEnd: Date?
        /// Whether the operator has it, so that any server can show it.
        public var isDeployable: Bool
        /// Whether it is kept for the day when another is lost.
        public var isBackup: Bool
        /// Whether somebody has said that its pin is withdrawn as soon as no server shows it anymore.
        public var isRetiring: Bool
        /// Whether a published document names its pin.
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

        /// The SHA-256 of the pin in hexadecimal, as a list has it.
        package var digest: String { Hexadecimal.encode(pin.digest) }
    }

    /// A server of the host: one address and one kind of key.
    public struct Server: Sendable, Hashable, Codable {
        /// Its address; for words only.
        public var name: String
        /// What it shows: an index of ``RolloverSituation/identities``.
        public var shows: Int

        /// Describes a server.
        public init(_ name: String, shows: Int) {
            self.name = name
            self.shows = shows
        }
    }

    /// The clients that may hold one document.
    public struct Clients: Sendable, Hashable, Codable {
        /// What people call the document, such as a file's name or a version of the app; for words only.
        public var document: String
        /// When the document was published: nobody held it before.
        public var published: Date
        /// When another took its place; nil while it is published, and for one that builds carry. Several are published if
        /// clients of several kinds are out there.
        public var replaced: Date?
        /// Whether builds carry it, so that no update replaces it.
        public var isShipped: Bool
        /// For what builds carry: the first instant at which nobody uses them anymore, if an end is in sight.
        public var usedUntil: Date?
        /// For each identity, when the clients' own code lets it in with this document.
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

    /// The time at which advice is asked for.
    public var time: Date
    /// What documents pin. A key may stay when its certificate is renewed; a certificate never does.
    public var pinned: Pin.Subject
    /// For how long a client may use a document after it was replaced; nil if nobody knows.
    public var staleness: Duration?
    /// How long before it would be too late something is advised, because it takes people a while.
    public var lead: Duration
    /// The keys or certificates.
    public var identities: [Identity]
    /// The servers, all of which could be asked.
    public var servers: [Server]
    /// The clients, by the documents that they may hold. At most one of these is published and not replaced.
    public var clients: [Clients]
    /// What all servers are to show: an index of ``identities``; nil if no change has been named.
    public var next: Int?
    /// The first instant at which nobody holds a document anymore that is not among ``clients``; nil if all are. Until
    /// then servers stay as they are, unless fewer of the known clients refuse them otherwise.
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

    /// The times of a change. If nobody knows the staleness, nothing is advised earlier because of it.
    var timing: PublicationTiming { PublicationTiming(staleness: staleness ?? .zero) }

    /// The first instant at which no client uses a document anymore that was replaced at an instant; never if nobody knows
    /// the staleness.
    func lastUse(ofDocumentReplacedAt instant: Date) -> Date {
        staleness == nil ? .distantFuture : timing.lastUse(ofDocumentReplacedAt: instant)
    }

    /// Whether documents pin certificates, and not keys.
    package var pinsCertificates: Bool { pinned == .certificate }

    /// What servers can show: what the operator has, and what some server shows already.
    var usable: [Bool] {
        var usable = identities.map(\.isDeployable)
        for server in servers { usable[server.shows] = true }
        return usable
    }

    /// The documents that are published, as indices of ``clients``.
    var published: [Int] { clients.indices.filter { !clients[$0].isShipped && clients[$0].replaced == nil } }
}
