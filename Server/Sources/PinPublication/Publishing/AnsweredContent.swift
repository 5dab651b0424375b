package import ServerFoundation
import ServerModel

/// The part of an approved content that challenge answers need. A server with many apps keeps this in memory for each,
/// without the hosts and their keys.
package struct AnsweredContent: Sendable, Hashable {
    /// The app.
    package let app: AppName
    /// The digest that approvals name.
    let digest: Digest
    /// The rules for hosts without pins in answers; nil for none.
    let domains: ContentDomains?
    /// The last second at which answers may be signed, in seconds since 1970.
    package let end: Int64

    /// Takes the part from a content.
    init(_ content: Content) {
        app = content.app
        digest = content.digest
        domains = content.domains
        end = content.end
    }
}
