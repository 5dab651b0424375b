import Foundation
import Holdfast

/// A provider: documents that something else has put into a folder, such as a mounted volume, by the last component of
/// the store's URL. What they say is proved by their signature, so it does not matter how they came.
public struct FolderProvider: RemoteDataProvider {
    private let folder: URL

    /// - Parameter folder: where the documents are.
    public init(_ folder: URL) { self.folder = folder }

    /// Reads the file; one that is missing is reported as a server reports it.
    public func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let file = folder.appending(path: request.url.lastPathComponent)
        guard let data = try? Data(contentsOf: file) else { throw RemoteDataError(status: 404) }
        guard data.count <= request.maximumBytes else {
            throw RemoteDataError(.tooLarge, expected: "at most \(request.maximumBytes) bytes", found: "\(data.count)")
        }
        return RemoteDataResponse(.body(data))
    }
}
