/// What challenge answers need of an approved content. A server with many apps keeps this of each in memory, and not the
/// hosts with their keys as well.
public struct AnsweredContent: Sendable, Hashable {
    /// The app.
    public let app: AppName
    /// What approvals name.
    public let digest: Digest
    /// What answers say about hosts without pins; nil to say nothing.
    public let domains: ContentDomains?
    /// The last second at which answers may be signed, in seconds since 1970.
    public let end: Int64

    /// Takes what is needed from a content.
    public init(_ content: Content) {
        app = content.app
        digest = content.digest
        domains = content.domains
        end = content.end
    }
}
