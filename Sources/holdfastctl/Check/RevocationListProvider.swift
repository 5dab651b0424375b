import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import Logging

/// Downloads revocation lists for one run of `check`: over plain HTTP, which authorities publish them by and URLSession
/// refuses on Linux, with AsyncHTTPClient; over https with URLSession and the system's anchors.
struct RevocationListProvider: RemoteDataProvider {
    private let plain: AsyncHTTPClientDataProvider
    private let secure = URLSessionDataProvider()

    init() {
        // It would say of plain HTTP that nobody is validated; the lists are signed.
        let quiet = PolicyLog(Logger(label: "holdfast.policies") { _ in SwiftLogNoOpLogHandler() })
        plain = PolicyLog.$shared.withValue(quiet) {
            AsyncHTTPClientDataProvider(validator: PathValidator(anchors: TrustAnchors([])))
        }
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        guard request.url.scheme?.lowercased() == "http" else { return try await secure.data(for: request) }
        return try await plain.data(for: request)
    }
}
