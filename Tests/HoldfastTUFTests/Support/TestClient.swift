import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// A client with a store in memory, a repository that a test changes, and a clock that a test moves.
struct TestClient {
    var repository: TestRepository
    let source: ScriptedSource
    let store = MetadataMemory()
    let clock: ManualClock
    let client: TUFClient
    /// The same client, which gets each state of the repository as one bundle: both decide alike.
    let twin: TwinClient
    /// Off where a test reaches for the client itself, its store or its source.
    var hasTwin = true

    init(
        _ repository: TestRepository? = nil, settings: TUFSettings = TUFSettings(), initialized: Bool = true
    ) throws {
        let repository = try repository ?? TestRepository()
        self.repository = repository
        source = ScriptedSource(repository)
        clock = ManualClock(now: repository.start)
        client = TUFClient(store: store, source: source, settings: settings, clock: clock)
        twin = TwinClient(settings: settings, clock: clock)
        guard initialized else { return }
        try client.initialize(root: repository.served("1.root.json") ?? Data())
        try twin.client.initialize(root: repository.served("1.root.json") ?? Data())
    }

    /// Serves the repository as it is now, and refreshes.
    @discardableResult
    func refresh() async throws(TUFError) -> TUFUpdate {
        source.serve(repository)
        let result: Result<TUFUpdate, TUFError>
        do throws(TUFError) {
            result = .success(try await client.refresh())
        } catch {
            result = .failure(error)
        }
        if hasTwin { await twin.compare(with: result, store, RepositoryBundle(repository)) }
        return try result.get()
    }

    /// The code with which a refresh ends; nil where it succeeds.
    func refusal() async -> TUFError.Code? {
        do throws(TUFError) {
            try await refresh()
            return nil
        } catch {
            return error.code
        }
    }

    /// The code with which a search ends; nil where it succeeds.
    func refusal(of target: String) async -> TUFError.Code? {
        do throws(TUFError) {
            _ = try await refresh().target(target)
            return nil
        } catch {
            return error.code
        }
    }

    /// The version that is kept of a role; nil where none is.
    func version(of role: RoleName) throws -> Int? {
        guard let data = store.data(of: StoredMetadataName(role), atMost: .max) else { return nil }
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (object?["signed"] as? [String: Any])?["version"] as? Int
    }

    func versions() throws -> [Int?] { try [.root, .timestamp, .snapshot, .targets].map { try version(of: $0) } }
}
