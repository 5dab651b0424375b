import Foundation
import Holdfast

@testable import HoldfastTUF

/// Serves a repository over no network: its files, and its bundle with an entity tag.
final class RepositoryProvider: RemoteDataProvider {
    static let base = "https://pins.example.com/"

    private struct State {
        var files: [String: Data] = [:]
        var requests: [RemoteDataRequest] = []
        var isDown = false
        var notModified = 0
    }

    private let state = Lock(State())

    /// The requested addresses, relative to the base.
    var asked: [String] {
        state.withLock { $0.requests.map { String($0.url.absoluteString.dropFirst(Self.base.count)) } }
    }
    var requests: [RemoteDataRequest] { state.withLock { $0.requests } }
    /// How often the bundle was not sent since it had not changed.
    var notModified: Int { state.withLock { $0.notModified } }

    func serve(_ repository: TestRepository) { serve(repository, bundle: RepositoryBundle(repository).json) }

    func serve(_ repository: TestRepository, bundle: Data) {
        var files = ["bundle.json": bundle]
        for (file, data) in repository.files {
            files[(file.kind == .metadata ? "metadata/" : "targets/") + file.path] = data
        }
        let served = files
        state.withLock { $0.files = served }
    }

    /// Serves something else in the place of one file.
    func serve(_ data: Data, as path: String) { state.withLock { $0.files[path] = data } }

    func fail(_ isDown: Bool = true) { state.withLock { $0.isDown = isDown } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let path = String(request.url.absoluteString.dropFirst(Self.base.count))
        return try state.withLock { state in
            state.requests.append(request)
            guard !state.isDown else { throw RemoteDataError(status: 503) }
            guard let data = state.files[path] else { throw RemoteDataError(status: 404) }
            guard data.count <= request.maximumBytes else {
                throw RemoteDataError(.tooLarge, expected: "at most \(request.maximumBytes) bytes", found: "more")
            }
            let tag = "\"\(TestRepository.digest(data))\""
            if request.headers["If-None-Match"] == tag {
                state.notModified += 1
                return RemoteDataResponse(.notModified)
            }
            return RemoteDataResponse(.body(data), headers: path == "bundle.json" ? ["ETag": tag] : [:])
        }
    }
}
