public import Holdfast

/// An error when making a ``PinnedHTTPClient``, or a refusal of a request for a reason other than its server's
/// certificates; those cause a `TrustFailure`.
public struct PinnedHTTPClientError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<PinnedHTTPClientError>

    /// The error code.
    public let code: Code
    /// The expected value, the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension PinnedHTTPClientError.Code {
    // When the client is made
    /// Event loops that do not call back about a connection, such as those of Network.framework.
    public static var eventLoopsRefused: Self { Self() }
    /// A proxy of a kind through which evidence cannot be collected.
    public static var proxyRefused: Self { Self() }
    /// A limit that is too low.
    public static var invalidLimit: Self { Self() }

    // When the client is made, or for a request
    /// A TLS configuration that would weaken the policy, or has a setting that would be ignored.
    public static var tlsConfigurationRefused: Self { Self() }

    // For a request
    /// A URL without a host, or with a scheme other than http and https.
    public static var urlRefused: Self { Self() }
    /// Over TLS, a server redirected the request to plain HTTP.
    public static var redirectToPlaintext: Self { Self() }
    /// The maximum number of origins is in use.
    public static var tooManyOrigins: Self { Self() }
    /// Until the request's deadline, all allowed connections had silent servers.
    public static var silentPeer: Self { Self() }
    /// The server sent an invalid response: a status outside 100 to 599 or 101, a second one, or data before it.
    public static var malformedResponse: Self { Self() }
    /// Every connection for the request had just ended.
    public static var connectionsRetired: Self { Self() }
    /// The pool's connection has no certificate to evaluate.
    public static var noCertificate: Self { Self() }
    /// The server presents another certificate in every handshake.
    public static var certificatesDiffer: Self { Self() }
    /// The handshake for the server's whole chain did not end in time.
    public static var evidenceTimedOut: Self { Self() }
    /// The proxy opened no tunnel for the handshake.
    public static var tunnelRefused: Self { Self() }
}
