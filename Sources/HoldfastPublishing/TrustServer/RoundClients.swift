/// The facts about clients that a round of a trust server needs: the builds in the field, earlier documents that no
/// round remembers, the platforms of clients, and the maximum time since a client last fetched.
public struct RoundClients: Sendable, Hashable {
    /// The documents in builds.
    public var shipped: [PublicationOutlook.Document]
    /// Earlier documents of the same trust server, each with the time at which it was replaced, in addition to those
    /// that rounds have kept.
    public var replaced: [PublicationOutlook.Document]
    /// The builds in the field. While these are unknown, it is unknown if clients can connect.
    public var appVersions: PublicationOutlook.AppVersions
    /// The platforms of clients, with the anchors of each; empty for the authorities under which a round validated the
    /// hosts.
    public var platforms: [PublicationOutlook.Platform]
    /// Maximum time since a client last fetched.
    public var staleness: Duration

    /// Describes clients.
    public init(
        shipped: [PublicationOutlook.Document] = [], replaced: [PublicationOutlook.Document] = [],
        appVersions: PublicationOutlook.AppVersions = .unknown, platforms: [PublicationOutlook.Platform] = [],
        staleness: Duration = PublicationTiming.usualStaleness
    ) {
        self.shipped = shipped
        self.replaced = replaced
        self.appVersions = appVersions
        self.platforms = platforms
        self.staleness = staleness
    }
}
