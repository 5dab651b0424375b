import Foundation
import Holdfast
import Testing

@testable import HoldfastTUF

/// A client that gets a repository as bundles, and is compared with one that gets it as files.
struct TwinClient {
    private final class Source: RepositorySource {
        let bundle = Lock(RepositoryBundle())

        func data(of file: RepositoryFile, atMost limit: Int) async -> Data? {
            await BundleSource(bundle: bundle.withLock { $0 }).data(of: file, atMost: limit)
        }
    }

    let client: TUFClient
    private let store = MetadataMemory()
    private let source = Source()

    init(settings: TUFSettings, clock: any WallClock) {
        client = TUFClient(store: store, source: source, settings: settings, clock: clock)
    }

    /// Refreshes from a bundle, which is written and read on the way, and expects the same outcome and the same state.
    func compare(with result: Result<TUFUpdate, TUFError>, _ others: MetadataMemory, _ bundle: RepositoryBundle) async {
        guard let read = try? RepositoryBundle([UInt8](bundle.json), maximumBytes: 16 << 20) else {
            Issue.record("a bundle that cannot be read")
            return
        }
        #expect(read == bundle)
        source.bundle.withLock { $0 = read }
        var refusal: TUFError?
        do throws(TUFError) {
            _ = try await client.refresh()
        } catch {
            refusal = error
        }
        switch (result, refusal) {
        case (.success, nil), (.failure, _?): break
        case (.success, let error?): Issue.record("refused as a bundle alone: \(error)")
        case (.failure(let error), nil): Issue.record("accepted as a bundle alone, while: \(error)")
        }
        for role in [RoleName.root, .timestamp, .snapshot, .targets] {
            let name = StoredMetadataName(role)
            #expect(
                store.data(of: name, atMost: .max) == others.data(of: name, atMost: .max),
                "what is kept of \(role.text) differs")
        }
    }
}
