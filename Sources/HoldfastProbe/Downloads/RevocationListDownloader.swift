import Foundation
package import Holdfast
import HoldfastAsyncHTTPClient

/// Downloads revocation lists: over plain HTTP, as authorities publish them, and over https from servers that the
/// system's authorities vouch for.
package struct RevocationListDownloader: RemoteDataProvider {
    private let plain: AsyncHTTPClientDataProvider
    private let anchors: @Sendable () async throws -> TrustAnchors
    private let answerLimit: Duration
    private let wholeLimit: Duration

    /// - Parameters:
    ///   - answerLimit: the maximum time until a response begins.
    ///   - wholeLimit: the maximum time for one list.
    ///   - anchors: the authorities that vouch for servers over https; loaded for each list from such a server.
    package init(
        answerLimit: Duration = .seconds(15), wholeLimit: Duration = .seconds(60),
        trusting anchors: @escaping @Sendable () async throws -> TrustAnchors = { try await TrustAnchors.system() }
    ) {
        plain = DocumentDownloader.ofSignedLists(answerLimit: answerLimit, wholeLimit: wholeLimit)
        self.anchors = anchors
        self.answerLimit = answerLimit
        self.wholeLimit = wholeLimit
    }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        guard request.url.scheme?.lowercased() != "http" else { return try await plain.data(for: request) }
        let trusted: TrustAnchors
        do {
            trusted = try await anchors()
        } catch let error as TrustAnchorError {
            throw RemoteDataError(
                .connectionFailed, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        let provider = AsyncHTTPClientDataProvider(
            validator: PathValidator(anchors: trusted), answerLimit: answerLimit, wholeLimit: wholeLimit)
        return try await provider.data(for: request)
    }
}
