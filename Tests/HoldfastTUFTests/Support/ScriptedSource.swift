import Foundation
import Holdfast

@testable import HoldfastTUF

/// Serves what a test says, and remembers what it was asked for.
final class ScriptedSource: RepositorySource {
    private struct State {
        var files: [RepositoryFile: Data]
        var asked: [String] = []
        var failure: (path: String, error: any Error)?
        var limits: [String: Int] = [:]
    }

    private let state: Lock<State>

    init(_ repository: TestRepository) { state = Lock(State(files: repository.files)) }

    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? {
        try state.withLock { state in
            state.asked.append(file.path)
            state.limits[file.path] = limit
            if let failure = state.failure, failure.path == file.path { throw failure.error }
            return state.files[file]
        }
    }

    func serve(_ repository: TestRepository) { state.withLock { $0.files = repository.files } }

    func fail(_ path: String, with error: any Error & Sendable) { state.withLock { $0.failure = (path, error) } }

    func limit(of path: String) -> Int? { state.withLock { $0.limits[path] } }

    /// The requests since the last call.
    func asked() -> [String] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }
}
