import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@Suite("A document that comes encoded", .timeLimit(.minutes(15)))
struct EncodedBodyTests {
    /// Begins like a gzip file; it is never decoded.
    private static let body = "\u{1F}x"

    private func answer(_ fields: [String]) -> String {
        (["HTTP/1.1 200 OK", "Content-Length: \(Self.body.utf8.count)", "Connection: close"] + fields)
            .joined(separator: "\r\n") + "\r\n\r\n\(Self.body)"
    }

    private func download(_ url: String, by provider: any RemoteDataProvider) async throws -> RemoteDataResponse {
        var request = RemoteDataRequest(url: try #require(URL(string: url)), maximumBytes: 1 << 20)
        request.allowsPlainHTTP = true
        return try await provider.data(for: request)
    }

    @Test(
        "is refused by AsyncHTTPClient's provider, which asked for none",
        arguments: [
            ["Content-Encoding: gzip"], ["Content-Encoding: gzip, gzip, gzip"], ["content-encoding: br"],
            ["Content-Encoding: deflate"], ["Content-Encoding: identity, gzip"], ["Content-Encoding: x-unknown"],
            ["Content-Encoding: identity", "Content-Encoding: gzip"], ["Content-Encoding: \u{212A}"],
        ])
    func refused(fields: [String]) async throws {
        let text = answer(fields)
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            do {
                _ = try await download(server.url(), by: ProviderKind.asyncHTTPClient.provider())
                Issue.record("taken")
            } catch {
                let error = try #require(error as? RemoteDataError)
                #expect(error.code == .encodedBody)
                #expect(error.description.contains("Content-Encoding"))
            }
            #expect(server.requests.first?.lowercased().contains("accept-encoding: identity\r\n") == true)
        }
    }

    @Test(
        "as identity is taken as it is",
        arguments: [[], ["Content-Encoding: identity"], ["Content-Encoding: Identity"], ["Content-Encoding: "]])
    func identity(fields: [String]) async throws {
        let text = answer(fields)
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let response = try await download(server.url(), by: ProviderKind.asyncHTTPClient.provider())
            #expect(response.content == .body(Data(Self.body.utf8)))
        }
    }

    #if !canImport(Security)
    @Test("over plain HTTP is not asked for by URLSession on Linux, which decodes without a limit")
    func urlSession() async throws {
        for allowsLoopback in [false, true] {
            let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: allowsLoopback)
            try await ScriptedHTTPServer.with({ _ in [.close] }) { server in
                do {
                    _ = try await download(server.url(), by: provider)
                    Issue.record("asked")
                } catch {
                    let error = try #require(error as? RemoteDataError)
                    #expect(error.code == .unsupported)
                    #expect(error.remedy.contains("AsyncHTTPClientDataProvider"))
                }
                #expect(server.requests.isEmpty)
            }
        }
    }
    #endif
}
