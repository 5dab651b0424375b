package import Foundation
package import Holdfast
package import ServerFoundation

/// A destination at which clients or web servers find documents.
package enum PublicPlace: Sendable {
    /// A folder, such as `public` of an earlier data folder. The folder `versions` next to it may have more
    /// information.
    case folder(URL)
    /// The address below which clients find them.
    case address(URL, any RemoteDataProvider)

    /// The path or address.
    package var description: String {
        switch self {
        case .folder(let url): url.path
        case .address(let url, _): url.absoluteString
        }
    }

    private static let limit = 16 << 20

    private static func publicFolder(_ url: URL) -> PublicFolder {
        PublicFolder(url, versions: url.deletingLastPathComponent().appending(path: "versions"))
    }

    /// The document at a path; nil if it does not exist.
    /// - Throws: ``ServerError`` `file` if the destination cannot be read, so that the public documents are unknown.
    package func read(_ path: String) async throws(ServerError) -> [UInt8]? {
        switch self {
        case .folder(let url): return try Self.publicFolder(url).read(path)
        case .address(let url, let provider):
            let request = RemoteDataRequest(
                url: url.appending(path: path), headers: ["Cache-Control": "no-cache"], maximumBytes: Self.limit)
            do {
                guard case .body(let body) = try await provider.data(for: request).content else { return nil }
                return Array(body)
            } catch let error as RemoteDataError where error.status == 404 || error.status == 410 {
                return nil
            } catch {
                let facts = (error as? any HoldfastError).map { "\($0.found)" } ?? "no answer"
                throw ServerError(
                    .file, of: request.url.absoluteString, expected: "the document, or status 404", found: facts,
                    remedy: "Try again when the address answers.")
            }
        }
    }

    /// The noted version of the document; nil if it is not noted.
    package func version(of path: String) throws(ServerError) -> Int64? {
        guard case .folder(let url) = self else { return nil }
        return try Self.publicFolder(url).version(of: path)
    }

    /// The paths of all files in a folder; empty for an address, which cannot list them.
    package func paths() -> [String] {
        guard case .folder(let url) = self else { return [] }
        return Self.publicFolder(url).paths()
    }
}
