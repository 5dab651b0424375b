public import Foundation
public import Holdfast

/// The real documents and chains of one host, from which ``RolloverSituation/situations(from:)`` makes the situations
/// for advice.
///
/// Times are cut to whole seconds, like those in certificates and pins.
public struct RolloverInputs: Sendable, Hashable {
    /// A certificate or key that servers may present in the future.
    public struct Candidate: Sendable, Hashable {
        /// The name, such as a file's name; for messages only.
        public var name: String
        /// DER of its certificates, leaf first. Missing issuers are taken from the chains that servers present. Empty
        /// for a key without a certificate.
        public var chain: [Data]
        /// The pin of the key; ignored if there is a chain.
        public var keyPin: Pin?
        /// Whether all servers should present it.
        public var isNext: Bool
        /// Whether it is kept in case another one is lost.
        public var isBackup: Bool

        /// Describes a certificate with its issuers, leaf first, in DER.
        public init(_ name: String, chain: [Data], isNext: Bool = true, isBackup: Bool = false) {
            self.name = name
            self.chain = chain
            self.isNext = isNext
            self.isBackup = isBackup
        }

        /// Describes a key that has no certificate yet.
        public init(_ name: String, keyPin: Pin, isNext: Bool = true, isBackup: Bool = false) {
            self.name = name
            chain = []
            self.keyPin = keyPin
            self.isNext = isNext
            self.isBackup = isBackup
        }
    }

    /// The name or address that is dialed.
    public var host: String
    /// The port that is dialed; nil if it is unknown.
    public var port: Int?
    /// The documents that clients may hold. Those that were not replaced and do not exist only in builds are published,
    /// and a change is made in all of them; of several for the same clients, the last one is published.
    public var documents: [PublicationOutlook.Document]
    /// Whether clients may hold documents that are older than the given ones, for as long as they may use the document
    /// before the oldest of these. False only if nothing was published before.
    public var hasEarlierDocuments: Bool
    /// The chains that servers present: one for each address and kind of key.
    public var servers: [PublicationOutlook.Presentation]
    /// The candidates that they may present in the future, unless only their pin is published.
    public var candidates: [Candidate]
    /// Pins that are to be withdrawn, in addition to those that a pin file marks as retiring.
    public var retiring: Set<Pin>
    /// The platforms of clients. Clients must be able to connect on all of them.
    public var platforms: [PublicationOutlook.Platform]
    /// The builds in the field, with the times until which they are used.
    public var appVersions: PublicationOutlook.AppVersions
    /// Maximum time for which clients may use a document after it was replaced; nil if it is unknown.
    public var staleness: Duration?
    /// How long before the last possible time a step is advised.
    public var lead: Duration
    /// The time of the advice.
    public var now: Date

    /// Collects the inputs of a situation.
    public init(
        host: String, port: Int? = nil, documents: [PublicationOutlook.Document], hasEarlierDocuments: Bool = true,
        servers: [PublicationOutlook.Presentation], candidates: [Candidate] = [], retiring: Set<Pin> = [],
        platforms: [PublicationOutlook.Platform], appVersions: PublicationOutlook.AppVersions = .unknown,
        staleness: Duration?, lead: Duration = .seconds(30 * 86_400), now: Date
    ) {
        self.host = host
        self.port = port
        self.documents = documents
        self.hasEarlierDocuments = hasEarlierDocuments
        self.servers = servers
        self.candidates = candidates
        self.retiring = retiring
        self.platforms = platforms
        self.appVersions = appVersions
        self.staleness = staleness
        self.lead = lead
        self.now = now
    }
}
