import Holdfast
import HoldfastNIO
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

// The examples of docs/services.md: a test compares them line by line.

func makeServer(
    certificates: [NIOSSLCertificate], key: NIOSSLPrivateKey, clients: any TrustPolicy, authorities: TrustAnchors
) throws -> PinnedTLSServer {
    var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.certificateVerification = .noHostnameVerification
    configuration.applicationProtocols = ["http/1.1"]
    return try PinnedTLSServer(
        clients: clients, configuration: configuration,
        validator: PathValidator(anchors: authorities, cache: VerifiedPathCache()))
}

/// Holdfast's TLS in place of Hummingbird's.
@available(macOS 14, iOS 17, tvOS 17, visionOS 1, *)
struct PinnedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let server: PinnedTLSServer

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            _ = try server.addHandlers(to: channel.pipeline.syncOperations)
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Lets a handler ask who its client is.
@available(macOS 14, iOS 17, tvOS 17, visionOS 1, *)
struct DeviceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

@available(macOS 14, iOS 17, tvOS 17, visionOS 1, *)
func makeRouter() -> Router<DeviceContext> {
    let router = Router(context: DeviceContext.self)
    router.get("/billing") { _, context in
        let client = try await context.channel.clientIdentity().get()
        let role = GeneralName.uniformResourceIdentifier("spiffe://example.org/billing")
        guard client.leaf.subjectAlternativeNames.contains(role) else { throw HTTPError(.forbidden) }
        return "welcome, billing"
    }
    return router
}

@available(macOS 14, iOS 17, tvOS 17, visionOS 1, *)
func makeBuilder(server: PinnedTLSServer) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
        PinnedChannel(base: HTTP1Channel(responder: responder), server: server)
    }
}

func rollOver(_ server: PinnedTLSServer, pins: PinSet) throws {
    try server.replacePolicy(try PinnedPolicy(clients: "devices", pins: pins))
}

func renewCertificate(_ server: PinnedTLSServer) throws {
    try server.endSessions()
}
