/// Somebody who is signed in, as pages know them.
struct PageSession: Sendable {
    /// The digest of the session's token.
    let id: Digest
    /// The person, for people to read.
    let person: String
    /// The digest of the key of the passkey that signed in.
    let passkey: Digest
    /// The apps that they may see; nil for all.
    let apps: Set<AppName>?
    /// What they may do there, as with a token.
    let scope: TokenGrant.Scope
    /// What each form and each call of this session has to hand back.
    let csrf: CSRFToken
    /// The last second at which it counts, in seconds since 1970.
    let end: Int64

    /// Who it is, for pages.
    var viewer: Viewer { Viewer(name: person, csrfToken: csrf.text, apps: apps, scope: scope) }
    /// Who it is, for the audit and the log.
    var actor: String { "passkey of \(person)" }
}
