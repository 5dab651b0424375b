public import NIOCore
public import NIOPosix
public import NIOSSL

extension LoopbackTLSServer {
    /// What the server does with a connection.
    public enum Behavior: Sendable, Hashable {
        /// Sends back what it receives.
        case echo
        /// Answers every HTTP/1.1 request with status 200 and this body.
        case http(body: String = "Hello from the loopback server\n")
        /// Receives and says nothing.
        case silent
        /// Sends these bytes as soon as its side of the handshake is done, and receives: what a client must not see
        /// before it has decided.
        case greeting([UInt8])
        /// Closes as soon as its side of the handshake is done.
        case closeAfterHandshake
        /// Accepts the connection and never answers the client's hello.
        case stalled
    }

    /// How a server is set up, beside its certificates.
    public struct Options: Sendable {
        /// What it does with a connection.
        public var behavior: Behavior
        /// The oldest version of TLS that it speaks.
        public var oldestTLSVersion: TLSVersion
        /// The newest version of TLS that it speaks; nil for the newest there is.
        public var newestTLSVersion: TLSVersion?
        /// Roots (DER) for client certificates: a client must present one that leads to one of them. Empty for no
        /// client certificates.
        public var clientRoots: [[UInt8]]
        /// Protocols for ALPN, the preferred first.
        public var applicationProtocols: [String]
        /// Where to listen: `127.0.0.1` or `::1`.
        public var address: String
        /// The port to listen on, for servers that share one on several addresses; 0 for one that the system gives.
        public var port: Int
        /// The event loops that it runs on.
        public var group: any EventLoopGroup

        /// Makes options; those that are not given suit most tests.
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

    /// What has happened at a server so far.
    public struct Statistics: Sendable, Hashable {
        /// Connections accepted.
        public internal(set) var connectionsAccepted = 0
        /// Connections that have ended.
        public internal(set) var connectionsClosed = 0
        /// Handshakes that ended well on the server's side. With TLS 1.3 that is after the client's last message, so
        /// not before the client has accepted the server's certificate.
        public internal(set) var handshakesCompleted = 0
        /// Handshakes that failed or were broken off.
        public internal(set) var handshakesFailed = 0
        /// Decrypted bytes that clients sent.
        public internal(set) var plaintextBytesReceived = 0
        /// Bytes that the server sent before encryption.
        public internal(set) var plaintextBytesSent = 0
        /// The name in the newest client hello (SNI, RFC 6066 3); nil if it had none.
        public internal(set) var lastServerName: String?
    }
}
