import HoldfastNIOTesting
import Testing

@testable import HoldfastProbe

@Suite("The dialogue with a proxy before TLS")
struct ProxyDialogueTests {
    private static let script = [
        "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n",
        "HTTP/1.0 200 Connection established\r\nVia: x\r\nContent-Length: 7\r\n\r\n",
    ]

    private static func failure(_ words: [[UInt8]]) -> DialogueFailure? {
        var dialogue = ProxyDialogue(target: "a:1")
        do throws(DialogueFailure) {
            for bytes in words { _ = try dialogue.receive(bytes) }
            return nil
        } catch {
            return error
        }
    }

    @Test("A proxy is asked for the target; its answer's headers and interim answers are passed over")
    func proxy() throws {
        for chunk in [1, 2, 7, Int.max] {
            var dialogue = ProxyDialogue(target: "[::1]:443")
            #expect(dialogue.opening == Array("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n".utf8))
            var isDone = false
            for said in Self.script {
                var rest = Array(said.utf8)[...]
                while !rest.isEmpty {
                    #expect(!isDone)
                    isDone = try dialogue.receive(Array(rest.prefix(chunk)))
                    rest = rest.dropFirst(chunk)
                }
            }
            #expect(isDone)
        }
        func kind(_ text: String) -> DialogueFailure.Kind? { Self.failure([Array(text.utf8)])?.kind }
        #expect(kind("HTTP/1.1 407 Proxy Authentication Required\r\n") == .refused)
        #expect(kind("HTTP/1.1 101 Switching\r\n\r\n") == .refused)
        #expect(kind("HTTP/2 200\r\n") == .malformed)
        #expect(kind("HTTP/1.1 200 bare line feed\n") == .malformed)
        #expect(kind("220 mail.example.com\r\n") == .malformed)
    }

    @Test("A byte after the go-ahead is refused, with it or after it")
    func injection() {
        let said = Self.script.map { Array($0.utf8) }
        for words in [[said[0], said[1] + [0x2A]], said + [[0x2A]]] {
            #expect(Self.failure(words)?.kind == .extraBytes)
        }
    }

    @Test("What a peer said is repeated as 200 characters of ASCII at most, however few characters they are")
    func marks() {
        let quoted = DialogueFailure.quoted("a" + String(repeating: "\u{301}", count: 8_000))
        #expect(quoted.unicodeScalars.count == 203)
        #expect(DialogueFailure.quoted("short") == "'short'")
    }

    @Test("No proxy can make the client hold more than a limit")
    func limit() {
        #expect(Self.failure([Array(repeating: 0, count: PlaintextInput.limit + 1)])?.kind == .tooLong)
        let lines = Array(repeating: Array("Via: x\r\n".utf8), count: 9_999)
        #expect(Self.failure([Array("HTTP/1.1 200 OK\r\n".utf8)] + lines)?.kind == .tooLong)
    }

    @Test("Any bytes at all give an answer and no crash")
    func noise() {
        let said = Self.script.flatMap { Array($0.utf8) }
        for position in said.indices {
            for byte: UInt8 in [0, 1, 0x0A, 0x30, 0x7F, 0x80, 0x84, 0xFF] {
                var bytes = said
                bytes[position] = byte
                _ = Self.failure([bytes])
                _ = Self.failure(bytes.map { [$0] })
            }
        }
    }
}
