public import Foundation
import Holdfast
import NIOCore
import NIOPosix
import NIOSSL

/// Another server that answers apps, asked over HTTP/1.1: over TLS, with a certificate that counts for its name, or on this
/// machine without. It is asked only what any app may ask. Redirections are answers like others, and are not followed.
public struct OtherServer: Sendable {
    /// How it is called in errors.
    let name: String
    private let host: String
    private let port: Int
    private let prefix: String
    private let tls: NIOSSLContext?
    private let group: any EventLoopGroup

    /// As large as any content that this server publishes.
    private static let greatestBody = Content.greatestSize
    private static let limit: TimeAmount = .seconds(20)
    private static let loopback = ["127.0.0.1", "::1", "localhost"]

    /// Names a server.
    /// - Parameters:
    ///   - url: the address below which it has `/app/init`.
    ///   - anchors: DER of the authorities that it must have a certificate of; nil for those of the system.
    /// - Throws: ``ServerError`` `invalidValue` for an address that is none, and for one without TLS beyond this machine.
    public init(_ url: URL, anchors: [[UInt8]]? = nil) throws(ServerError) {
        let host = (url.host() ?? "").trimmingCharacters(in: ["[", "]"])
        let path = url.path(percentEncoded: true)
        guard (1...255).contains(host.utf8.count), ASCIIText.isPrintable(host.utf8, 1...255), url.query() == nil,
            url.user() == nil, path.utf8.count <= 1_024, ["http", "https"].contains(url.scheme ?? "")
        else { throw Self.wrongAddress("another address") }
        let isEncrypted = url.scheme == "https"
        guard isEncrypted || Self.loopback.contains(host) else {
            throw Self.wrongAddress("an address without TLS on another machine")
        }
        self.host = host
        port = url.port ?? (isEncrypted ? 443 : 80)
        prefix = path.hasSuffix("/") ? String(path.dropLast()) : path
        name = "\(host):\(port)"
        tls = isEncrypted ? try Self.context(anchors) : nil
        group = MultiThreadedEventLoopGroup.singleton
    }

    private static func wrongAddress(_ found: String) -> ServerError {
        ServerError(
            .invalidValue, of: "address", expected: "https://HOST/, or http:// and an address of this machine",
            found: found, remedy: "Give the address below which apps ask for /app/init.")
    }

    private static func context(_ anchors: [[UInt8]]?) throws(ServerError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let anchors {
                configuration.trustRoots = .certificates(
                    try anchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ServerError(
                .invalidValue, of: "authorities", expected: "certificates", found: "others",
                remedy: "Name a file with the authorities that the old server's certificate is of.")
        }
    }

    /// Asks for something.
    /// - Parameter target: the path and the query, behind the address.
    /// - Throws: ``ServerError`` `unreachable` if there is no answer, or nobody that the name belongs to.
    func get(
        _ target: String, headers: [(name: String, value: String)] = []
    ) async throws(ServerError) -> HTTPExchange.Answer {
        let exchange = HTTPExchange(
            prefix + target, of: host.contains(":") ? "[\(host)]:\(port)" : name, headers: headers,
            greatestBody: Self.greatestBody, within: Self.limit)
        do {
            return try await exchange.answer(from: host, port: port, on: group) { [tls, host] pipeline in
                guard let tls else { return }
                let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
            }
        } catch {
            let isStranger = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
            throw ServerError(
                .unreachable, of: name,
                expected: isStranger ? "a certificate that counts for the name" : "an answer",
                found: isStranger ? "another certificate, or no TLS" : "none",
                remedy: isStranger
                    ? "Name the old server's authorities with --ca, or ask it under the name that apps use." : nil)
        }
    }
}
