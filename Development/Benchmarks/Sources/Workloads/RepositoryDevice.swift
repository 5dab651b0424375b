import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTUF
import HoldfastTesting
import Logging
import Synchronization

/// An app with pins from a repository: the real store and the real downloads, with a separate storage, and a count of
/// its requests.
public struct RepositoryDevice: Sendable {
    /// The way in which it gets the repository.
    public enum Way: String, Sendable, CaseIterable {
        /// As `bundle.json`.
        case bundle = "bundle.json"
        /// File by file.
        case files = "files"
    }

    /// The requests, and the bytes of the bodies that came.
    public struct Traffic: Sendable {
        /// The number of requests.
        public var requests = 0
        /// The bytes of the bodies of existing files.
        public var bytes = 0

        static func - (left: Traffic, right: Traffic) -> Traffic {
            Traffic(requests: left.requests - right.requests, bytes: left.bytes - right.bytes)
        }
    }

    private final class CountingProvider: RemoteDataProvider {
        let traffic = Mutex(Traffic())
        private let provider: any RemoteDataProvider

        init(_ provider: any RemoteDataProvider) { self.provider = provider }

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            traffic.withLock { $0.requests += 1 }
            let response = try await provider.data(for: request)
            if case .body(let body) = response.content { traffic.withLock { $0.bytes += body.count } }
            return response
        }
    }

    /// Downloads over plain HTTP from the loopback address: the content is verified, and not the transport.
    static func downloads() throws -> AsyncHTTPClientDataProvider {
        AsyncHTTPClientDataProvider(
            validator: PathValidator(anchors: try TrustAnchors(der: [TestAuthority.root().root])),
            allowsPlainHTTPToLoopback: true)
    }

    private let provider: CountingProvider
    private let pins: PinRepository

    /// An app that has just been installed.
    /// - Parameters:
    ///   - folder: the URL of the served files.
    ///   - downloads: may be shared; each download has a separate connection.
    public init(_ way: Way, at folder: URL, root: Data, downloads: any RemoteDataProvider) throws {
        provider = CountingProvider(downloads)
        let floor = PinFloor(covering: [try HostPattern("host-0.example.com")])
        var configuration = PinRepositoryConfiguration(
            source: way == .bundle
                ? .bundle(folder.appending(path: "bundle.json"))
                : .files(metadata: folder.appending(path: "metadata"), targets: folder.appending(path: "targets")),
            root: root, floor: floor)
        configuration.allowsPlainHTTP = true
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = InMemoryDataStore()
        pins = try PinRepository(
            checking: configuration, logger: Logger(label: "device") { _ in SwiftLogNoOpLogHandler() })
    }

    /// One of its pins, which distinguishes a new pin file from an old one.
    public var firstPin: Pin? {
        let question = PinQuestion(host: try? DialedHost("host-0.example.com"), time: .now)
        guard case .required(let pins)? = pins.pinFile?.answer(to: question).content else { return nil }
        return pins.pins.first
    }

    /// Updates.
    /// - Returns: the traffic of the update.
    @discardableResult
    public func update() async throws -> Traffic {
        let before = provider.traffic.withLock { $0 }
        _ = try await pins.update(mode: .forced)
        return provider.traffic.withLock { $0 } - before
    }
}
