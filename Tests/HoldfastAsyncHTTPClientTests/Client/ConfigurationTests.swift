import AsyncHTTPClient
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import Testing

@Suite("A client is not made")
struct ConfigurationTests {
    private func code(
        group: (any EventLoopGroup)? = nil, limits: PinnedHTTPClient.Limits = .init(),
        _ configure: (inout HTTPClient.Configuration) throws -> Void = { _ in }
    ) throws -> PinnedHTTPClientError.Code? {
        let setting = try HTTPSetting()
        var configuration = setting.configuration
        try configure(&configuration)
        let anchors = try setting.anchors()
        do throws(PinnedHTTPClientError) {
            _ = try PinnedHTTPClient(
                manager: setting.manager, validator: PathValidator(anchors: anchors),
                eventLoopGroup: group ?? .singletonMultiThreadedEventLoopGroup, configuration: configuration,
                limits: limits)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("on event loops where no connection can be judged")
    func eventLoops() throws {
        #expect(try code(group: NIOAsyncTestingEventLoop()) == .eventLoopsRefused)
    }

    @Test("with TLS settings that would weaken the policy")
    func tls() throws {
        for verification: CertificateVerification in [.none, .optionalVerification] {
            let refused = try code {
                $0.tlsConfiguration = .makeClientConfiguration()
                $0.tlsConfiguration?.certificateVerification = verification
            }
            #expect(refused == .tlsConfigurationRefused)
        }
        let root = try TestAuthority.root().root
        let roots = try code {
            $0.tlsConfiguration = .makeClientConfiguration()
            $0.tlsConfiguration?.trustRoots = .certificates([try NIOSSLCertificate(bytes: root, format: .der)])
        }
        #expect(roots == .tlsConfigurationRefused)
        #expect(try code { $0.tlsConfiguration = .makeClientConfiguration() } == nil)
    }

    @Test("for a SOCKS proxy, which evidence cannot be collected through")
    func socks() throws {
        #expect(try code { $0.proxy = .socksServer(host: "127.0.0.1") } == .proxyRefused)
        #expect(try code { $0.proxy = .server(host: "127.0.0.1", port: 1_080) } == nil)
    }

    @Test("with limits of nothing")
    func limits() throws {
        for change: (inout PinnedHTTPClient.Limits) -> Void in [
            { $0.origins = 0 }, { $0.evidence = -1 }, { $0.evidenceTries = 0 }, { $0.evidenceLifetime = .zero },
        ] {
            var limits = PinnedHTTPClient.Limits()
            change(&limits)
            #expect(try code(limits: limits) == .invalidLimit)
        }
    }
}
