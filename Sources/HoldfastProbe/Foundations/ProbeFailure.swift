public import Holdfast

/// Why a host, or one of its addresses, presented no certificates.
public struct ProbeFailure: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<ProbeFailure>

    /// The reason.
    public let code: Code
    /// The destination: a host or an address with its port, or a proxy.
    public let place: String
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts
    /// The description of the failure for people: one sentence without a full stop, which names the destination.
    public let sentence: String
    /// Whether the failure shows that the server has no key of the requested kind.
    package var saysNoSuchKey = false
    /// Whether the server presented a certificate whose key is not for this use.
    var saysWrongUse = false

    /// - Parameter sentence: for people; it names the destination.
    package init(_ code: Code, at place: String, expected: String, found: String, sentence: String) {
        self.code = code
        self.place = place
        self.sentence = sentence
        facts = ErrorFacts(expected: expected, found: found, remedy: code.remedy)
    }

    /// `code at PLACE: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue) at \(place): expected \(expected), found \(found). \(remedy)"
    }
}

extension ProbeFailure.Code {
    /// No address was found for a name.
    public static var resolveFailed: Self { Self("Check the name, and that this machine can resolve it.") }
    /// The filter does not allow this address, or the connection led to such an address.
    public static var addressNotAllowed: Self { Self("Allow the address only if whoever names the host may reach it.") }
    /// The name has more addresses than the probe accepts.
    public static var tooManyAddresses: Self { Self("Name the addresses to ask, some at a time.") }
    /// No connection was made: it was refused or reset, or the network blocks it.
    public static var unreachable: Self {
        Self("Check that the server listens there, and that no firewall is in between.")
    }
    /// This machine has no route to the address, for example because it has no IPv6. This is not a failure of the host.
    public static var unroutable: Self { Self("Ask from a machine that has this kind of network.") }
    /// The proxy refused, before TLS began.
    public static var refusedBeforeTLS: Self { Self("Check that the proxy allows such connections.") }
    /// The proxy's answer is not what HTTP requires, or the connection ended before TLS.
    public static var failedBeforeTLS: Self { Self("Check the proxy and its port.") }
    /// The server ended the handshake with an alert (RFC 8446 6.2), for example because it requires a client
    /// certificate.
    public static var refused: Self {
        Self("Check the server's versions and ciphers, and that it accepts the client's certificate or asks for none.")
    }
    /// A server that presented one certificate closed the connection that requested a key of the other kind, without an
    /// alert. It may have such a key.
    public static var otherKeyUnknown: Self {
        Self("Ask again; if the server has only one kind of key and merely closes such connections, say so.")
    }
    /// A handshake presented more bytes of certificates than the caller reads.
    public static var chainTooLarge: Self {
        Self("Have the server leave out the certificates that no client needs.")
    }
    /// There was no TLS handshake.
    public static var handshakeFailed: Self { Self("Check that a TLS server of version 1.2 or 1.3 answers there.") }
    /// An operation did not finish in time.
    public static var timedOut: Self { Self("Check the network and the server's load, or give it more time.") }
}
