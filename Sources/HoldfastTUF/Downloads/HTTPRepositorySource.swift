public import Foundation
public import Holdfast

/// Downloads a repository's files over HTTP, with the transport that Holdfast's stores use.
public struct HTTPRepositorySource: RepositorySource {
    private let metadata: String
    private let targets: String?
    private let provider: any RemoteDataProvider

    /// Makes a source.
    /// - Parameters:
    ///   - metadata: the URL of the folder with the metadata.
    ///   - targets: the URL of the folder with the targets; nil if no target is downloaded.
    ///   - provider: downloads the files, and decides which URLs are allowed.
    public init(metadata: URL, targets: URL? = nil, provider: any RemoteDataProvider) {
        self.metadata = Self.folder(metadata)
        self.targets = targets.map(Self.folder)
        self.provider = provider
    }

    /// Downloads a file; nil if the server answers with 404 or 403.
    /// - Throws: `RemoteDataError`.
    public func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? {
        let base = file.kind == .metadata ? metadata : targets
        guard let base, let url = URL(string: base + file.path) else {
            throw RemoteDataError(
                .insecureURL, expected: "the URL of a folder of targets and a file in it", found: "none",
                remedy: "Configure both URLs of the repository.")
        }
        do {
            let response = try await provider.data(for: RemoteDataRequest(url: url, maximumBytes: limit))
            guard case .body(let data) = response.content else { return nil }
            return data
        } catch let error as RemoteDataError where error.status == 404 || error.status == 403 {
            return nil
        }
    }

    private static func folder(_ url: URL) -> String {
        let text = url.absoluteString
        return text.utf8.last == UInt8(ascii: "/") ? text : text + "/"
    }
}
