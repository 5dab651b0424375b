public import Foundation
public import Holdfast

/// Somewhere clients or web servers find documents.
public enum PublicPlace: Sendable {
    /// A folder, such as `public` of an earlier data folder. Beside it may be `versions`, which says more.
    case folder(URL)
    /// The address below which clients find them.
    case address(URL, any RemoteDataProvider)

    /// What it is called.
    public var description: String {
        switch self {
        case .folder(let url): url.path
        case .address(let url, _): url.absoluteString
        }
    }

    private static let limit = 16 << 20

    private static func publicFolder(_ url: URL) -> PublicFolder {
        PublicFolder(url, versions: url.deletingLastPathComponent().appending(path: "versions"))
    }

    /// The document at a path; nil if there is none.
    /// - Throws: ``ServerError`` `file` if the place cannot be read: nobody knows then what is public.
    func read(_ path: String) async throws(ServerError) -> [UInt8]? {
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

    /// The version of the document, where it is noted.
    func version(of path: String) throws(ServerError) -> Int64? {
        guard case .folder(let url) = self else { return nil }
        return try Self.publicFolder(url).version(of: path)
    }

    /// The paths of everything that is there; an address cannot be asked for them.
    func paths() -> [String] {
        guard case .folder(let url) = self else { return [] }
        return Self.publicFolder(url).paths()
    }
}
