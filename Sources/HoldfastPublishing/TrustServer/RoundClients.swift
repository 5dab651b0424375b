/// What a round of a trust server has to be told about clients: which builds are in the field, what was published that no
/// round remembers, where clients run, and for how long they may not have asked.
public struct RoundClients: Sendable, Hashable {
    /// What builds carry.
    public var shipped: [PublicationOutlook.Document]
    /// Documents of the same trust server that were published before, each with the time at which it was replaced, beside
    /// those that rounds have kept.
    public var replaced: [PublicationOutlook.Document]
    /// The builds in the field. As long as nobody has said which they are, nobody knows whether clients get in.
    public var appVersions: PublicationOutlook.AppVersions
    /// Where clients run, with the anchors of each; empty for the authorities under which a round validated the hosts.
    public var platforms: [PublicationOutlook.Platform]
    /// The longest time for which a client may not have asked.
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
