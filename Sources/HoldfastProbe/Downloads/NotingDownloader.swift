package import Foundation
package import Holdfast

/// Downloads the files of a repository, and records the statuses that clients do not distinguish.
package struct NotingDownloader: RemoteDataProvider {
    private struct Notes {
        var forbidden: [String] = []
        var failure: RemoteDataError?
    }

    private let provider: DocumentDownloader
    private let notes = Lock(Notes())

    package init(_ provider: DocumentDownloader) { self.provider = provider }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        do {
            return try await provider.data(for: request)
        } catch let error as RemoteDataError {
            notes.withLock { notes in
                switch error.status {
                case 403: notes.forbidden.append(request.url.lastPathComponent)
                case 404: break
                default: notes.failure = error
                }
            }
            throw error
        }
    }

    /// Downloads a JSON file; nil if it does not exist.
    /// - Throws: `RemoteDataError`.
    package func json(at url: URL, maximumBytes: Int) async throws -> Data? {
        do {
            let request = RemoteDataRequest(
                url: url, headers: ["Accept": "application/json"], maximumBytes: maximumBytes)
            return try await data(for: request).document()
        } catch let error as RemoteDataError where error.status == 404 || error.status == 403 {
            return nil
        }
    }

    /// The names of the files that the server refused with status 403. These count as absent, because object stores
    /// answer this way for missing files. Servers with wrong permissions do the same.
    package var forbidden: [String] { notes.withLock { $0.forbidden } }

    /// The last error because of which it is unknown which files the server has.
    package var failure: RemoteDataError? { notes.withLock { $0.failure } }
}
