import Foundation
package import Holdfast
import HoldfastAsyncHTTPClient

/// Downloads revocation lists: over plain HTTP, by which authorities publish them, and over https from servers that the
/// system's authorities vouch for.
package struct RevocationListDownloader: RemoteDataProvider {
    private let plain: AsyncHTTPClientDataProvider

    package init() { plain = DocumentDownloader.ofSignedLists() }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        guard request.url.scheme?.lowercased() != "http" else { return try await plain.data(for: request) }
        let anchors: TrustAnchors
        do throws(TrustAnchorError) {
            anchors = try await .system()
        } catch {
            throw RemoteDataError(
                .connectionFailed, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        return try await AsyncHTTPClientDataProvider(validator: PathValidator(anchors: anchors)).data(for: request)
    }
}
