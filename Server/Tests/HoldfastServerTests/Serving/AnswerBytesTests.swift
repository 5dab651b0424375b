import NIOCore
import NIOHTTP1
import Testing

@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

@Suite("Answers as bytes")
struct AnswerBytesTests {
    private func head(_ status: HTTPResponseStatus, _ fields: [(name: String, value: String)]) -> String? {
        AnswerBytes.head(status, fields, with: ByteBufferAllocator(), room: 0).map { String(buffer: $0) }
    }

    @Test("A head has its status, its fields as they are, and an empty line")
    func written() {
        #expect(
            head(.notFound, [("Content-Type", "application/json"), ("X-Empty", ""), ("X-Tab", "a\tb")])
                == "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nX-Empty: \r\nX-Tab: a\tb\r\n\r\n")
        #expect(head(.ok, []) == "HTTP/1.1 200 OK\r\n\r\n")
        #expect(String(buffer: AnswerBytes.goOn) == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test(
        "What could begin another field, or another answer, is no answer",
        arguments: [
            ("Location", "a\r\nSet-Cookie: b"), ("Location", "a\nb"), ("Location", "a\rb"), ("Location", "a\u{0}b"),
            ("Location", "a\u{7F}"), ("Location", "\u{E9}"), ("", "a"), ("A:", "b"), ("A B", "c"), ("A\r\nB", "c"),
            ("\u{E9}", "a"),
        ])
    func refused(name: String, value: String) {
        #expect(head(.ok, [("X-Before", "1"), (name, value)]) == nil)
    }
}
