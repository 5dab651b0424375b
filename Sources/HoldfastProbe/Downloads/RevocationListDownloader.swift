import Foundation
package import Holdfast
import HoldfastAsyncHTTPClient

/// Downloads revocation lists: over plain HTTP, which authorities publish them by and URLSession refuses on Linux, with
/// AsyncHTTPClient; over https with URLSession and the system's anchors.
package struct RevocationListDownloader: RemoteDataProvider {
    private let plain: AsyncHTTPClientDataProvider
    private let secure = URLSessionDataProvider()

    package init() { plain = DocumentDownloader.ofSignedLists() }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        guard request.url.scheme?.lowercased() == "http" else { return try await secure.data(for: request) }
        return try await plain.data(for: request)
    }
}
