import ServerApprovals
import ServerFoundation

/// The session of a person who is signed in.
package struct PageSession: Sendable {
    /// The digest of the session's token.
    let id: Digest
    /// The name of the person.
    let person: String
    /// The digest of the public key of the passkey that signed in.
    let passkey: Digest
    /// The apps that the person may see; nil for all.
    let apps: Set<AppName>?
    /// The person's permissions, as with a token.
    let scope: TokenGrant.Scope
    /// The token that each form and each call of this session must send back.
    let csrf: CSRFToken
    /// The last second at which it is valid, in seconds since 1970.
    let end: Int64

    /// The person as the viewer of a page.
    package var viewer: Viewer { Viewer(name: person, csrfToken: csrf.text, apps: apps, scope: scope) }
    /// The person as named in the audit and the log.
    var actor: String { "passkey of \(person)" }
}
