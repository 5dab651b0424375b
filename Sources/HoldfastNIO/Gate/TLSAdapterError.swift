public import Holdfast

/// An error that ended a connection without a decision about its peer.
public struct TLSAdapterError: HoldfastError {
    /// The event that ended the connection.
    public typealias Code = OpenCode<TLSAdapterError>

    /// The error code.
    public let code: Code
    /// The expected value, the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }

    static let noDecision = TLSAdapterError(
        .noDecision, expected: "a decision about the peer before the handshake ends", found: "none",
        remedy: "Add the handlers with PinnedTLSClient or PinnedTLSServer, and no other TLS handler in front of them.")

    static let bytesBeforeDecision = TLSAdapterError(
        .bytesBeforeDecision, expected: "no bytes before the handshake is complete", found: "some",
        remedy: "Keep handlers that make up bytes out of the space between TLS and Holdfast.")

    static let closedBeforeDecision = TLSAdapterError(
        .closedBeforeDecision, expected: "a handshake", found: "the end of the connection",
        remedy: "Check that the peer speaks TLS at this address and port.")

    static let noClient = TLSAdapterError(
        .noClient, expected: "a connection that PinnedTLSServer accepted", found: "one that PinnedTLSClient made",
        remedy: "Ask for the trust decision instead.")
}

extension TLSAdapterError.Code {
    /// The handshake was completed without a decision about this peer.
    public static var noDecision: Self { Self() }
    /// Bytes passed before there was a decision.
    public static var bytesBeforeDecision: Self { Self() }
    /// The peer did not complete the handshake in time.
    public static var handshakeTimedOut: Self { Self() }
    /// The connection or its pipeline ended before the handshake was completed.
    public static var closedBeforeDecision: Self { Self() }
    /// The identity of a client was requested on a connection whose peer is a server.
    public static var noClient: Self { Self() }
}
