/// Sessions of people's browsers. The token is in a cookie; the database has its digest, and the audit says whether it
/// counts.
struct PageSessions: Sendable {
    /// The cookie of somebody who is signed in.
    static let cookie = "__Host-holdfast"
    /// The cookie of somebody who is asked to use a passkey.
    static let visitorCookie = "__Host-holdfast-visitor"
    /// More than a browser has for one host.
    private static let maximumCookieCount = 64

    private let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    /// Begins a session for whoever has answered a challenge.
    /// - Parameters:
    ///   - assertion: what the browser sent.
    ///   - credential: the id of the passkey that it names.
    ///   - ceremony: what the browser was asked.
    ///   - generator: makes the session's token.
    /// - Returns: the session's token, for the cookie.
    /// - Throws: ``ServerError``, as ``Catalog/signIn(_:with:answering:using:)`` does.
    func begin(
        _ assertion: PasskeyAssertion, with credential: [UInt8], answering ceremony: PasskeyCeremony,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> AccessToken {
        try await catalog.signIn(assertion, with: credential, answering: ceremony, using: &generator)
    }

    /// Who sends a request; nil for somebody who is not signed in.
    /// - Throws: ``ServerError`` `brokenChain` if the rows are not what the audit names.
    func find(_ request: ListenerRequest) async throws(ServerError) -> PageSession? {
        guard let token = Self.token(Self.cookie, of: request), let found = try await catalog.session(of: token) else {
            return nil
        }
        return PageSession(
            id: found.session, person: found.passkey.person, passkey: found.passkey.credential.key.identity,
            apps: found.passkey.apps, scope: found.passkey.scope, csrf: CSRFToken(of: token), end: found.end)
    }

    /// The session whose share a request takes, without reading anything; nil for the source's.
    func known(_ request: ListenerRequest) -> Digest? {
        Self.token(Self.cookie, of: request).flatMap { catalog.knownSession(of: $0) }
    }

    /// Ends a session.
    /// - Throws: ``ServerError`` `notFound` if it has ended.
    func end(_ session: PageSession) async throws(ServerError) {
        try await catalog.endSession(session.id, by: session.actor)
    }

    /// The token in a cookie; nil if there is none, or if there are two of the name.
    static func token(_ name: String, of request: ListenerRequest) -> AccessToken? {
        value(name, of: request).flatMap { AccessToken($0) }
    }

    /// The value of a cookie; nil if it is missing, or if two have the name.
    static func value(_ name: String, of request: ListenerRequest) -> [UInt8]? {
        guard let header = request.header("Cookie") else { return nil }
        let parts = header.utf8.split(separator: UInt8(ascii: ";"), maxSplits: maximumCookieCount)
        guard parts.count <= maximumCookieCount else { return nil }
        let values = parts.map { $0.drop { $0 == 0x20 } }.filter { $0.starts(with: "\(name)=".utf8) }
        guard let value = values.first, values.count == 1 else { return nil }
        return Array(value.dropFirst(name.utf8.count + 1))
    }

    /// The header that has a browser keep a token: for this host alone, over TLS alone, for no script, and with no request
    /// that another page begins.
    static func setting(_ name: String, _ token: AccessToken, for seconds: Int64) -> (name: String, value: String) {
        header(name, token.secretText, seconds)
    }

    /// The header that has a browser keep what it was asked.
    static func asking(_ value: String) -> (name: String, value: String) {
        header(visitorCookie, value, PasskeyCeremony.span)
    }

    /// The header that has a browser forget a token.
    static func forgetting(_ name: String) -> (name: String, value: String) { header(name, "", 0) }

    private static func header(_ name: String, _ value: String, _ seconds: Int64) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(value); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict")
    }
}
