import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads that end", .timeLimit(.minutes(15)))
struct EndedDownloadTests {
    /// 300 downloads, or as many as `HOLDFAST_MUTANTS` says: FoundationNetworking's faults need thousands.
    private static let downloads =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"].flatMap { Int($0) } ?? 300

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        let ended = FirstAnswer<Bool>()

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.settle(error == nil)
        }
    }

    private func answering(_ length: Int, _ body: (ScriptedHTTPServer) async throws -> Void) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\n"
        try await ScriptedHTTPServer.with(
            { _ in [.send(text + String(repeating: "a", count: length)), .close] }, body)
    }

    @Test(
        "A session that was ended lets go of its delegate, whether its task was done or not",
        arguments: [true, false])
    func delegate(waits: Bool) async throws {
        try await answering(10) { server in
            weak var delegate: Delegate?
            do {
                let strong = Delegate()
                delegate = strong
                let configuration = URLSessionConfiguration.ephemeral
                configuration.urlCache = nil
                let session = URLSession(configuration: configuration, delegate: strong, delegateQueue: nil)
                let task = session.dataTask(with: try #require(URL(string: server.url())))
                task.resume()
                if waits { #expect(await strong.ended.value) }
                session.end(task)
                _ = await strong.ended.value
            }
            try await waitUntil { delegate == nil }
        }
    }

    @Test("Many downloads that are too large, lead elsewhere, are canceled, or end well, leave the process alive")
    func many() async throws {
        try await answering(100) { server in
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(server.url())\r\nContent-Length: 0\r\n\r\n"
            try await ScriptedHTTPServer.with({ _ in [.send(redirect), .close] }) { other in
                try await end(try [server, other].map { try #require(URL(string: $0.url())) })
            }
        }
    }

    /// Downloads what is at one address and then at the other, and cancels some of the downloads at any moment.
    private func end(_ urls: [URL]) async throws {
        let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.downloads {
                if number >= 16 { try await group.next() }
                group.addTask {
                    let (isTooLarge, isCanceled) = (number % 3 == 0, number % 5 == 0)
                    let request = RemoteDataRequest(
                        url: urls[number % urls.count], maximumBytes: isTooLarge ? 10 : 1_000)
                    let download = Task { try await provider.data(for: request) }
                    if isCanceled {
                        for _ in 0..<number % 200 { await Task.yield() }
                        download.cancel()
                    }
                    let result = await download.result
                    guard !isTooLarge, !isCanceled else { return }
                    #expect(throws: Never.self) { try result.get() }
                }
            }
            try await group.waitForAll()
        }
    }
}
