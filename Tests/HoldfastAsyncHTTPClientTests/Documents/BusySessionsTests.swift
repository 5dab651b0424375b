import Dispatch
import Foundation
import HoldfastNIOTesting
import Testing

@testable import Holdfast

@Suite("URLSession that is busy with another server", .timeLimit(.minutes(15)))
struct BusySessionsTests {
    @Test("keeps no download beyond its limit, and begins none that has ended meanwhile")
    func limit() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        try await ScriptedHTTPServer.with({ _ in [.send(answer), .close] }) { server in
            let request = RemoteDataRequest(url: try #require(URL(string: server.url())))
            // Making a task waits on Linux while another session reads headers.
            let end = DispatchSemaphore(value: 0)
            SoleTask.makers.async { end.wait() }
            let hurried = URLSessionDataProvider(answerLimit: .milliseconds(100), allowsPlainHTTPToLoopback: true)
            let error = await #expect(throws: RemoteDataError.self) { _ = try await hurried.data(for: request) }
            #expect(error?.code == .noAnswerInTime)
            let canceled = Task {
                try await URLSessionDataProvider(allowsPlainHTTPToLoopback: true).data(for: request)
            }
            canceled.cancel()
            let cancellation = await #expect(throws: RemoteDataError.self) { _ = try await canceled.value }
            #expect(cancellation?.code == .canceled)
            end.signal()
            let response = try await URLSessionDataProvider(allowsPlainHTTPToLoopback: true).data(for: request)
            #expect(response.content == .body(Data("{}".utf8)))
            #expect(server.requests.count == 1)
        }
    }
}
