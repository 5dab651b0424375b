import ServerApprovals
package import ServerFoundation
package import ServerHTTP

/// A person who views pages, and their permissions.
package struct Viewer: Sendable, Hashable {
    /// The viewer's name.
    let name: String
    /// The CSRF token in the viewer's forms, so that no other site can submit them.
    let csrfToken: String
    /// The apps that the viewer may see; nil for all.
    var apps: Set<AppName>?
    /// The viewer's permissions, as with a token.
    var scope: TokenGrant.Scope = .read

    /// The identifier of the viewer's session.
    var session: Digest { Digest(of: csrfToken.utf8) }
    /// Whether the viewer may see an app.
    func sees(_ app: AppName) -> Bool { apps?.contains(app) ?? true }
    /// Whether the viewer may see pages about all apps, such as the audit.
    var seesEverything: Bool { apps == nil }
}

/// Finds the viewer of a request; nil without a session.
package typealias ViewerFinder = @Sendable (ListenerRequest) async throws(ServerError) -> Viewer?

/// Finds the session whose share a request takes, without reading anything; nil for the share of its source.
package typealias SessionFinder = @Sendable (ListenerRequest) -> Digest?
