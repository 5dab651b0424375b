import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTUF
import Logging
import NIOCore

/// Fetches a URL from a server whose pins come from a repository. The program ships with the repository's first root and
/// with the `bundle.json` of the day on which it was built, and takes newer pins from wherever `bundle.json` is served.
@main
struct PinsFromRepository {
    /// What the app has among its resources.
    struct Shipped {
        let root: Data
        /// It carries its own date: no earlier time counts, whatever the device's clock says.
        let bundle: Data
    }

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 4, let repository = URL(string: arguments[3]) else {
            print("usage: PinsFromRepository 1.root.json bundle.json BUNDLE-URL URL    (holdfastctl repository)")
            exit(2)
        }
        do {
            let files = arguments.prefix(2).map { URL(filePath: $0) }
            let shipped = Shipped(root: try Data(contentsOf: files[0]), bundle: try Data(contentsOf: files[1]))
            let pins = try await pins(
                for: [arguments[4]], from: repository, shipped: shipped, anchors: .system(),
                logger: Logger(label: "pins-from-repository"))
            // An app that runs for long calls `run()` in a task of its own instead. A failure is no reason to stop: the
            // pins that are there count, and the log says why there are no newer ones.
            _ = try? await pins.update(mode: .forced)
            print("the pins are \(pins.state)")
            print(try await fetch(arguments[4], pins: pins, anchors: .system()))
        } catch {
            print(error)
            exit(1)
        }
    }

    /// The pins of the hosts of some URLs: those that were shipped at first, then those of the repository.
    static func pins(
        for urls: [String], from repository: URL, shipped: Shipped, anchors: TrustAnchors, logger: Logger,
        storage: (any SecureDataStore)? = nil
    ) async throws -> PinRepository {
        // No pin file counts that leaves one of these hosts out, whoever signed it.
        let floor = PinFloor(covering: try urls.map { HostPattern(try host(of: $0)) })
        var configuration = PinRepositoryConfiguration(source: .bundle(repository), root: shipped.root, floor: floor)
        // For so long after the pin file's end a build that was never opened starts with its pins.
        configuration.shipped = .init(bundle: shipped.bundle, grace: .seconds(2 * 365 * 86_400))
        configuration.remoteDataProvider = AsyncHTTPClientDataProvider(validator: PathValidator(anchors: anchors))
        if let storage { configuration.secureDataStore = storage }
        return try await PinRepository.load(configuration: configuration, logger: logger)
    }

    /// The body of the response.
    /// - Throws: the `TrustFailure` of a server that is refused. No byte of the request is sent to such a server.
    static func fetch(_ url: String, pins: PinRepository, anchors: TrustAnchors) async throws -> String {
        let manager = TrustManager(policies: [pins.policy(for: HostPattern(try host(of: url)))])
        let client = try PinnedHTTPClient(
            manager: manager, validator: PathValidator(anchors: anchors, cache: VerifiedPathCache()))
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1_048_576)
            try await client.shutdown()
            return String(buffer: body)
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private static func host(of url: String) throws -> DialedHost {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        return try DialedHost(url: url)
    }
}
