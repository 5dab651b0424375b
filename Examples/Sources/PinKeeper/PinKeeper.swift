import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastMetrics
import Logging
import Metrics
import NIOCore
import ServiceLifecycle
import UnixSignals

/// A service that calls its backends with pins from a signed list, keeps the list fresh while it runs, and counts refusals
/// by their code in swift-metrics.
@main
struct PinKeeper {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 3, let list = URL(string: arguments[1]) else {
            print("usage: PinKeeper LIST-URL PUBLIC-KEY BACKEND-URL...    (holdfastctl keygen, holdfastctl sign)")
            exit(2)
        }
        do {
            // Bootstrap swift-log and swift-metrics for your backends here.
            let keeper = try await PinKeeper(
                list: list, publicKey: arguments[2], backends: Array(arguments.dropFirst(2)), anchors: .system(),
                metrics: TrustMetrics(), logger: Logger(label: "pin-keeper"))
            try await keeper.group(signals: [.sigterm, .sigint]).run()
            try await keeper.client.shutdown()
        } catch {
            print(error)
            exit(1)
        }
    }

    let store: CertStore
    let manager: TrustManager
    let client: PinnedHTTPClient
    let probe: BackendProbe
    let logger: Logger

    init(
        list: URL, publicKey: String, backends: [String], anchors: TrustAnchors, metrics: TrustMetrics, logger: Logger,
        storage: (any SecureDataStore)? = nil
    ) async throws {
        let validator = PathValidator(anchors: anchors, cache: VerifiedPathCache())
        let store = try await CertStore.load(
            configuration: CertStoreConfiguration(serviceURL: list, publicKey: publicKey), secureDataStore: storage,
            remoteDataProvider: AsyncHTTPClientDataProvider(validator: validator), logger: logger)
        let manager = TrustManager()
        for backend in backends {
            guard let url = URL(string: backend) else { throw URLError(.badURL) }
            manager.add(policy: store.policy(for: HostPattern(try DialedHost(url: url))))
        }
        metrics.count(manager)
        metrics.count(store)
        client = try PinnedHTTPClient(manager: manager, validator: validator)
        probe = BackendProbe(client: client, backends: backends, logger: logger)
        self.store = store
        self.manager = manager
        self.logger = logger
    }

    /// The store first: services end in the opposite order.
    func group(signals: [UnixSignal] = []) -> ServiceGroup {
        ServiceGroup(services: [store, probe], gracefulShutdownSignals: signals, logger: logger)
    }
}

/// Asks every backend now and then.
struct BackendProbe: Service {
    let client: PinnedHTTPClient
    let backends: [String]
    let logger: Logger
    var interval = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for backend in backends { await ask(backend) }
                try? await Task.sleep(for: interval)
            }
        }
    }

    private func ask(_ backend: String) async {
        do {
            let response = try await client.execute(HTTPClientRequest(url: backend), timeout: .seconds(10))
            logger.info("asked", metadata: ["backend": "\(backend)", "status": "\(response.status)"])
        } catch {
            logger.warning("not reached", metadata: ["backend": "\(backend)", "error": "\(error)"])
        }
    }
}
