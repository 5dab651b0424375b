import ServerApprovals
package import ServerFoundation
package import ServerHTTP
import ServerModel
import ServerStore

/// The sessions of browsers. The token is in a cookie; the database has its digest, and the audit determines whether it
/// is valid.
package struct PageSessions: Sendable {
    /// The cookie with the token of a session.
    static let cookie = "__Host-holdfast"
    /// The cookie with the ceremony that a browser must answer.
    static let visitorCookie = "__Host-holdfast-visitor"
    /// Maximum number of cookies; browsers send fewer to one host.
    private static let maximumCookieCount = 64

    private let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    /// Begins a session for a browser that answered a challenge.
    /// - Parameters:
    ///   - assertion: the passkey's signature from the browser.
    ///   - credential: the id of the passkey that it names.
    ///   - ceremony: the ceremony that the browser answers.
    ///   - generator: generates the session's token.
    /// - Returns: the session's token, for the cookie.
    /// - Throws: ``ServerError``, as ``Catalog/signIn(_:with:answering:using:)`` does.
    func begin(
        _ assertion: PasskeyAssertion, with credential: [UInt8], answering ceremony: PasskeyCeremony,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> AccessToken {
        try await catalog.signIn(assertion, with: credential, answering: ceremony, using: &generator)
    }

    /// Finds the session of a request; nil if there is none.
    /// - Throws: ``ServerError`` `brokenChain` if the rows do not match the audit.
    package func find(_ request: ListenerRequest) async throws(ServerError) -> PageSession? {
        guard let token = Self.token(Self.cookie, of: request), let found = try await catalog.session(of: token) else {
            return nil
        }
        return PageSession(
            id: found.session, person: found.passkey.person, passkey: found.passkey.credential.key.identity,
            apps: found.passkey.apps, scope: found.passkey.scope, csrf: CSRFToken(of: token), end: found.end)
    }

    /// The session whose share a request takes, without reading anything; nil for the share of the source.
    package func known(_ request: ListenerRequest) -> Digest? {
        Self.token(Self.cookie, of: request).flatMap { catalog.knownSession(of: $0) }
    }

    /// Ends a session.
    /// - Throws: ``ServerError`` `notFound` if it has already ended.
    func end(_ session: PageSession) async throws(ServerError) {
        try await catalog.endSession(session.id, by: session.actor)
    }

    /// The token in a cookie; nil if the cookie is missing or repeated.
    static func token(_ name: String, of request: ListenerRequest) -> AccessToken? {
        value(name, of: request).flatMap { AccessToken($0) }
    }

    /// The value of a cookie; nil if it is missing or repeated.
    static func value(_ name: String, of request: ListenerRequest) -> [UInt8]? {
        guard let header = request.header("Cookie") else { return nil }
        let parts = header.utf8.split(separator: UInt8(ascii: ";"), maxSplits: maximumCookieCount)
        guard parts.count <= maximumCookieCount else { return nil }
        let values = parts.map { $0.drop { $0 == 0x20 } }.filter { $0.starts(with: "\(name)=".utf8) }
        guard let value = values.first, values.count == 1 else { return nil }
        return Array(value.dropFirst(name.utf8.count + 1))
    }

    /// The header that stores a token in the browser: only for this host, only over TLS, not readable by scripts, and
    /// not sent with requests from other sites.
    static func setting(_ name: String, _ token: AccessToken, for seconds: Int64) -> (name: String, value: String) {
        header(name, token.secretText, seconds)
    }

    /// The header that stores a ceremony in the browser.
    static func asking(_ value: String) -> (name: String, value: String) {
        header(visitorCookie, value, PasskeyCeremony.span)
    }

    /// The header that deletes a cookie from the browser.
    static func forgetting(_ name: String) -> (name: String, value: String) { header(name, "", 0) }

    private static func header(_ name: String, _ value: String, _ seconds: Int64) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(value); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict")
    }
}
