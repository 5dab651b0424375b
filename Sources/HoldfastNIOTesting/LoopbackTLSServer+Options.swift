#if Services
public import NIOCore
public import NIOPosix
public import NIOSSL

extension LoopbackTLSServer {
    /// The behavior of the server on a connection.
    public enum Behavior: Sendable, Hashable {
        /// Sends back what it receives.
        case echo
        /// Answers every HTTP/1.1 request with status 200 and this body.
        case http(body: String = "Hello from the loopback server\n")
        /// Receives, and sends nothing.
        case silent
        /// Sends these bytes as soon as its side of the handshake is done, and receives. A client must not see them
        /// before it has accepted the server.
        case greeting([UInt8])
        /// Closes as soon as its side of the handshake is done.
        case closeAfterHandshake
        /// Accepts the connection, but never answers the ClientHello.
        case stalled
    }

    /// The options of a server, apart from its certificates.
    public struct Options: Sendable {
        /// The behavior on a connection.
        public var behavior: Behavior
        /// The oldest accepted version of TLS.
        public var oldestTLSVersion: TLSVersion
        /// The newest accepted version of TLS; nil for the newest supported one.
        public var newestTLSVersion: TLSVersion?
        /// The roots for client certificates, in DER. A client must present a certificate that leads to one of them. If
        /// the array is empty, the server requests no certificate.
        public var clientRoots: [[UInt8]]
        /// The protocols for ALPN (RFC 7301), the preferred one first.
        public var applicationProtocols: [String]
        /// The address to listen on: `127.0.0.1` or `::1`.
        public var address: String
        /// The port to listen on, for servers that share a port on several addresses; 0 for a port that the system
        /// chooses.
        public var port: Int
        /// The event loops on which it runs.
        public var group: any EventLoopGroup

        /// Makes options. The defaults suit most tests.
        public init(
            behavior: Behavior = .echo, oldestTLSVersion: TLSVersion = .tlsv12, newestTLSVersion: TLSVersion? = nil,
            clientRoots: [[UInt8]] = [], applicationProtocols: [String] = [], address: String = "127.0.0.1",
            port: Int = 0, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        ) {
            self.behavior = behavior
            self.oldestTLSVersion = oldestTLSVersion
            self.newestTLSVersion = newestTLSVersion
            self.clientRoots = clientRoots
            self.applicationProtocols = applicationProtocols
            self.address = address
            self.port = port
            self.group = group
        }
    }

    /// The events at a server so far.
    public struct Statistics: Sendable, Hashable {
        /// Connections that were accepted.
        public internal(set) var connectionsAccepted = 0
        /// Connections that have ended.
        public internal(set) var connectionsClosed = 0
        /// Handshakes that succeeded on the server's side. With TLS 1.3, they are counted after the client's last
        /// message, so only after the client has accepted the server's certificate.
        public internal(set) var handshakesCompleted = 0
        /// Handshakes that failed or were aborted.
        public internal(set) var handshakesFailed = 0
        /// Decrypted bytes that clients sent.
        public internal(set) var plaintextBytesReceived = 0
        /// Bytes that the server sent before encryption.
        public internal(set) var plaintextBytesSent = 0
        /// The name in the newest ClientHello (SNI, RFC 6066 3); nil if it had none.
        public internal(set) var lastServerName: String?
    }
}
#endif
