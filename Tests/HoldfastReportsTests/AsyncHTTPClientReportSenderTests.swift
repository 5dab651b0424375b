import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing

@Suite("Reports with AsyncHTTPClient")
struct AsyncHTTPClientReportSenderTests {
    @Test("A collector without TLS gets nothing")
    func plain() async throws {
        let sender = AsyncHTTPClientReportSender(validator: PathValidator(anchors: TrustAnchors([])))
        let url = try #require(URL(string: "http://127.0.0.1:9/reports"))
        let error = await #expect(throws: ReportSendingError.self) {
            try await sender.send(ReportUpload(url: url, contentType: "application/json", body: Data()))
        }
        #expect(error?.code == .insecureURL)
    }
}
