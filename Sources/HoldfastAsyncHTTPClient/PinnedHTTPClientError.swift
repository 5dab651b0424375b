public import Holdfast

/// Why a ``PinnedHTTPClient`` cannot be made, or refuses a request for a reason other than its server's certificates;
/// those cause a `TrustFailure`.
public struct PinnedHTTPClientError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // When the client is made
        /// Event loops that do not ask about a connection, such as those of Network.framework.
        case eventLoopsRefused
        /// A proxy of a kind that evidence cannot be collected through.
        case proxyRefused
        /// A limit that leaves nothing to work with.
        case invalidLimit

        // When the client is made, or for a request
        /// A TLS configuration that would weaken the policy, or has a setting that would be ignored.
        case tlsConfigurationRefused

        // For a request
        /// A URL without a host, or with a scheme other than http and https.
        case urlRefused
        /// Over TLS, a server redirected the request to plain HTTP.
        case redirectToPlaintext
        /// As many origins are in use at once as the client allows.
        case tooManyOrigins
        /// Until the request's deadline, as many connections as are allowed had servers that said nothing.
        case silentPeer
        /// The server sent what is no response: a status outside 100 to 599 or 101, a second one, data before it.
        case malformedResponse
        /// Every connection for the request had just ended.
        case connectionsRetired
        /// The pool's connection has no certificate to evaluate.
        case noCertificate
        /// The server shows another certificate each time it is asked.
        case certificatesDiffer
        /// The handshake for the server's whole chain did not end in time.
        case evidenceTimedOut
        /// The proxy opened no tunnel for the handshake.
        case tunnelRefused
    }

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}
