import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("An invalid response over HTTP/1.1", .timeLimit(.minutes(15)))
struct HTTP1ErrorTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    private func found(_ answer: String) async throws -> String {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["http/1.1"])
        var script = ScriptedOrigin.Script()
        script.answer = { _ in [Array(answer.utf8)] }
        let played = script
        return try await withScriptedOrigin(context, script: { _ in played }) { origin in
            try await setting.withClient { client in
                let error = await #expect(throws: PinnedHTTPClientError.self) {
                    _ = try await client.text(origin.url())
                }
                #expect(error?.code == .malformedResponse)
                return error?.found ?? ""
            }
        }
    }

    @Test("is blamed on what is wrong in it")
    func reasons() async throws {
        let many = (0..<5_000).map { "x-\($0): y\r\n" }.joined()
        #expect(try await found(Self.ok + many + "\r\n").contains("more fields"))
        let long = "x: " + String(repeating: "y", count: 1 << 18) + "\r\n"
        #expect(try await found(Self.ok + long + "\r\n").contains("longer ones"))
        #expect(try await found(Self.ok + "content-length: 1x\r\n\r\n").contains("content-length"))
        #expect(try await found(Self.ok + "a b c\r\n\r\n").contains("a field"))
        for lengths in [
            "content-length: 1\r\ncontent-length: 2\r\n", "content-length: 1\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 1\r\n",
        ] {
            let found = try await found(Self.ok + lengths + "\r\nab")
            #expect(!found.contains("status line begins"), "\(found)")
            #expect(found.contains("contradict") || found.contains("behind \"HTTP/1.1 200 OK\""), "\(found)")
        }
    }

    @Test("is blamed on its status line where that is wrong", arguments: ["HTTP/1.1 2x0 OK", "HTTP/1.1 20 OK", "ICY"])
    func statusLine(line: String) async throws {
        let found = try await found("\(line)\r\n\r\n")
        #expect(found.contains(line) && found.contains("where a status line begins"), "\(found)")
    }
}
