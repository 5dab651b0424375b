public import Holdfast

/// Why a ``PinnedHTTPClient`` cannot be made, or refuses a request for another reason than its server's certificates;
/// those are a `TrustFailure`.
public struct PinnedHTTPClientError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // When the client is made
        /// Event loops on which nobody is asked about a connection, such as those of Network.framework.
        case eventLoopsRefused
        /// A proxy of a kind that evidence cannot be collected through.
        case proxyRefused
        /// A limit that leaves nothing to work with.
        case invalidLimit

        // When the client is made, or for a request
        /// A TLS configuration that would weaken the policy, or say something that is ignored.
        case tlsConfigurationRefused

        // For a request
        /// A URL without a host, or of another scheme than http and https.
        case urlRefused
        /// A server answered over TLS that the request be sent again without.
        case redirectToPlaintext
        /// As many origins are in use at once as the client allows.
        case tooManyOrigins
        /// Every connection that the request was to go out on had just come to its end.
        case connectionsRetired
        /// The pool's connection has no certificate to judge.
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
