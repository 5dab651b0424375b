import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Testing

@Suite("Downloads of the files of a repository", .timeLimit(.minutes(15)))
struct NotingDownloaderTests {
    @Test("A file that is absent or refused is none, and what was refused is named; any other status is a failure")
    func statuses() async throws {
        try await ScriptedHTTPServer.with({ path in
            let (status, body) =
                switch path {
                case "/there.json": ("200 OK", "{}")
                case "/refused.json": ("403 Forbidden", "")
                case "/broken.json": ("500 Internal Server Error", "")
                default: ("404 Not Found", "")
                }
            let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
            return [.send(head + body), .close]
        }) { server in
            let downloader = NotingDownloader(
                DocumentDownloader(
                    trusting: TrustAnchors([]), within: .seconds(60), allowsPlainHTTPToLoopback: true))
            func json(_ name: String, maximumBytes: Int = 100) async throws -> Data? {
                let url = try #require(URL(string: server.url("/\(name).json")))
                return try await downloader.json(at: url, maximumBytes: maximumBytes)
            }
            let there = try await json("there")
            #expect(there == Data("{}".utf8))
            let absent = try await json("absent")
            #expect(absent == nil && downloader.forbidden.isEmpty)
            let refused = try await json("refused")
            #expect(refused == nil && downloader.forbidden == ["refused.json"] && downloader.failure == nil)
            let error = await #expect(throws: RemoteDataError.self) { _ = try await json("broken") }
            #expect(error?.status == 500 && downloader.failure?.status == 500)
            await #expect(throws: RemoteDataError.self) { _ = try await json("there", maximumBytes: 1) }
        }
    }
}
