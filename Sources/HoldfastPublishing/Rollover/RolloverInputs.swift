public import Foundation
public import Holdfast

/// Real documents and chains of one host, from which ``RolloverSituation/situations(from:)`` makes what advice rests on.
///
/// Times are cut to whole seconds, as certificates and pins state theirs.
public struct RolloverInputs: Sendable, Hashable {
    /// A certificate or key that servers may show one day.
    public struct Candidate: Sendable, Hashable {
        /// What people call it, such as a file's name; for words only.
        public var name: String
        /// DER of its certificates, leaf first. Issuers that are missing are taken from what servers show. Empty for a key
        /// without a certificate.
        public var chain: [Data]
        /// The pin of the key; of no meaning if there is a chain.
        public var keyPin: Pin?
        /// Whether all servers are to show it.
        public var isNext: Bool
        /// Whether it is kept for the day when another is lost.
        public var isBackup: Bool

        /// Describes a certificate with its issuers, leaf first, in DER.
        public init(_ name: String, chain: [Data], isNext: Bool = true, isBackup: Bool = false) {
            self.name = name
            self.chain = chain
            self.isNext = isNext
            self.isBackup = isBackup
        }

        /// Describes a key of which there is no certificate yet.
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
    /// The port that is dialed; nil if it is not known.
    public var port: Int?
    /// What clients may hold. Those that no build alone carries and that were not replaced are published, and a change is
    /// made in all of them; of several for the same clients, the last one is.
    public var documents: [PublicationOutlook.Document]
    /// Whether clients may hold documents from before those that are given, for as long as they may use what the oldest of
    /// these replaced. False only if nothing was published before.
    public var hasEarlierDocuments: Bool
    /// What servers show: one for each address and kind of key.
    public var servers: [PublicationOutlook.Presentation]
    /// What they may show one day, as far as it is not published as a mere pin.
    public var candidates: [Candidate]
    /// Pins of which somebody says that they are withdrawn, beside those that a pin file marks as retiring.
    public var retiring: Set<Pin>
    /// Where clients run. Only who gets in everywhere gets in.
    public var platforms: [PublicationOutlook.Platform]
    /// The builds in the field, for how long they are used.
    public var appVersions: PublicationOutlook.AppVersions
    /// For how long clients may use a document after it was replaced; nil if nobody knows.
    public var staleness: Duration?
    /// How long before it would be too late something is advised.
    public var lead: Duration
    /// When advice is asked for.
    public var now: Date

    /// Collects what a situation is made from.
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
