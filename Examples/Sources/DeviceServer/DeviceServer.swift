import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// A server with mutual TLS. A client needs a certificate of the devices' authority; what it may do depends on the URI in
/// its subjectAltName, which is compared as a whole and never taken apart.
@main
struct DeviceServer {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 5, let port = Int(arguments[1]) else {
            print("usage: DeviceServer PORT CERT.pem KEY.pem DEVICES-CA.pem URI...    (spiffe://example.org/billing)")
            exit(2)
        }
        do {
            let certificates = try NIOSSLCertificate.fromPEMFile(arguments[2])
            let key = try NIOSSLPrivateKey(file: arguments[3], format: .pem)
            let authorities = try NIOSSLCertificate.fromPEMFile(arguments[4]).map { try $0.toDERBytes() }
            let listener = try await start(
                port: port, certificates: certificates, key: key, devices: TrustAnchors(der: authorities),
                allowed: Set(arguments.dropFirst(4)))
            print("listening on port \(listener.localAddress?.port ?? port)")
            try await listener.closeFuture.get()
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Listens on every address.
    /// - Parameters:
    ///   - devices: the authorities that issue certificates of devices.
    ///   - allowed: the URIs that may use the service.
    static func start(
        port: Int, certificates: [NIOSSLCertificate], key: NIOSSLPrivateKey, devices: TrustAnchors, allowed: Set<String>
    ) async throws -> any Channel {
        // Who clients are is Holdfast's to find out: the configuration says nothing of trust roots.
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.certificateVerification = .noHostnameVerification
        let server = try PinnedTLSServer(
            clients: StandardPolicy(clients: "devices"), configuration: configuration,
            validator: PathValidator(anchors: devices, cache: VerifiedPathCache()))
        return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                // Runs for clients that are trusted and have proved to hold their key, and for no others.
                server.configure(channel) { channel, client in
                    try channel.pipeline.syncOperations.addHandler(
                        Reception(role: role(of: client, among: allowed)))
                }
            }
            .bind(host: "0.0.0.0", port: port).get()
    }

    /// Being trusted is not being allowed: an authority issues certificates for many purposes.
    static func role(of client: ClientIdentity, among allowed: Set<String>) -> String? {
        for case .uniformResourceIdentifier(let uri) in client.leaf.subjectAlternativeNames where allowed.contains(uri)
        {
            return uri
        }
        return nil
    }
}

/// Greets a client that is allowed, and dismisses any other.
private final class Reception: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let role: String?

    init(role: String?) { self.role = role }

    func handlerAdded(context: ChannelHandlerContext) {
        let answer = role.map { "welcome, \($0)\n" } ?? "not allowed\n"
        let channel = context.channel
        let isWritten = context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)))
        if role == nil { isWritten.whenComplete { _ in channel.close(promise: nil) } }
    }
}
