/// Who looks at a page, and what they may see.
struct Viewer: Sendable, Hashable {
    /// Who it is.
    let name: String
    /// What a form of theirs carries, so that no other site can send it for them.
    let csrfToken: String
    /// The apps that they may see; nil for all.
    var apps: Set<AppName>?
    /// What they may do there, as with a token.
    var scope: TokenGrant.Scope = .read

    /// What tells their session from others.
    var session: Digest { Digest(of: csrfToken.utf8) }
    /// Whether they may see an app.
    func sees(_ app: AppName) -> Bool { apps?.contains(app) ?? true }
    /// Whether they may see what is about all apps, such as the audit.
    var seesEverything: Bool { apps == nil }
}

/// Finds out who sends a request; nil for somebody who is not signed in.
typealias ViewerFinder = @Sendable (ListenerRequest) async throws(ServerError) -> Viewer?

/// Finds out whose share a request takes, without reading anything; nil for its source's.
typealias SessionFinder = @Sendable (ListenerRequest) -> Digest?
