import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting

/// The first publication of a repository with one pin file: what an app ships with, and what it downloads.
struct PublishedBundle {
    let root: Data
    let bundle: Data

    /// - Parameter timestamp: for how long the timestamp and the snapshot last.
    init(of file: PinFile, timestamp: Duration = .seconds(14 * 86_400), at time: Date) async throws {
        let (offline, online) = (TUFSigningKey(), TUFSigningKey())
        let (rare, daily) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
        let lifetimes = TUFRepositoryState.Lifetimes(snapshot: timestamp, timestamp: timestamp)
        var state = try TUFRepositoryState(
            roles: [.root: rare, .targets: rare, .snapshot: daily, .timestamp: daily], at: time)
        try state.prepare(pins: file.json, lifetimes: lifetimes, at: time)
        _ = try state.sign(by: offline)
        let publication = try await TUFPublication.make(
            of: state, in: MemoryStorage(), onlineKeys: [online], lifetimes: lifetimes,
            allowing: [.lifetime, .expiry], at: time)
        func served(_ path: String) throws -> Data {
            guard let object = publication.objects.first(where: { $0.path == path }) else { throw CancellationError() }
            return object.data
        }
        root = try served("metadata/1.root.json")
        bundle = try served("bundle.json")
    }

    /// An app that has nothing but its root, and downloads the bundle.
    static func app(root: Data, bundle: Data, clock: ManualClock) throws -> PinRepository {
        guard let url = URL(string: "https://pins.example.com/bundle.json") else { throw CancellationError() }
        var configuration = PinRepositoryConfiguration(
            source: .bundle(url), root: root, floor: PinFloor(covering: []))
        configuration.remoteDataProvider = Served(data: bundle)
        configuration.secureDataStore = InMemoryDataStore()
        return try PolicyLog.$shared.withValue(RecordingLog().policyLog) {
            try PinRepository(checking: configuration, clock: clock)
        }
    }

    private struct Served: RemoteDataProvider {
        let data: Data
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(data)) }
    }
}
