import HoldfastNIOTesting
import Testing

@testable import HoldfastProbe

@Suite("Dialogues before TLS")
struct DialogueTests {
    /// What the client says to a script, byte by byte or at once, until TLS begins.
    private static func play(
        _ script: [ScriptedServer.Line], _ dialogues: [any ConnectionDialogue], chunk: Int = .max
    ) throws -> (said: [UInt8], isDone: Bool) {
        var sequence = DialogueSequence(dialogues)
        var step = sequence.start()
        var said = step.send
        for line in script {
            guard case .say(let bytes) = line else { continue }
            var rest = bytes[...]
            while !rest.isEmpty {
                step = try sequence.receive(Array(rest.prefix(chunk)))
                rest = rest.dropFirst(chunk)
                said += step.send
            }
        }
        return (said, step.isDone)
    }

    private static func failure(_ name: StartTLSProtocol, _ words: [String]) -> DialogueFailure? {
        failure(name.dialogue, words.map { Array($0.utf8) })
    }

    private static func failure(_ dialogue: any ConnectionDialogue, _ words: [[UInt8]]) -> DialogueFailure? {
        var sequence = DialogueSequence([dialogue])
        _ = sequence.start()
        do throws(DialogueFailure) {
            for bytes in words { _ = try sequence.receive(bytes) }
            return nil
        } catch {
            return error
        }
    }

    @Test("Every protocol gets to TLS, in whatever pieces the answers come", arguments: StartTLSProtocol.allCases)
    func upgrades(name: StartTLSProtocol) throws {
        let script = try #require(StartTLSScripts.all[name.rawValue])
        let expected = script.flatMap { line -> [UInt8] in if case .hear(let bytes) = line { bytes } else { [] } }
        for chunk in [1, 2, 7, Int.max] {
            let (said, isDone) = try Self.play(script, [name.dialogue], chunk: chunk)
            #expect(isDone)
            #expect(said == expected)
        }
    }

    @Test("What a peer said is repeated as 200 characters of ASCII at most, however few characters they are")
    func marks() {
        let quoted = DialogueFailure.quoted("a" + String(repeating: "\u{301}", count: 8_000))
        #expect(quoted.unicodeScalars.count == 203)
        #expect(DialogueFailure.quoted("short") == "'short'")
    }

    @Test("A byte after the go-ahead is refused, with it or after it", arguments: StartTLSProtocol.allCases)
    func injection(name: StartTLSProtocol) throws {
        let script = try #require(StartTLSScripts.all[name.rawValue])
        let said = script.compactMap { line -> [UInt8]? in if case .say(let bytes) = line { bytes } else { nil } }
        let last = try #require(said.last)
        for words in [said.dropLast() + [last + [0x2A]], said + [[0x2A]]] {
            #expect(Self.failure(name.dialogue, Array(words))?.kind == .extraBytes)
        }
    }

    @Test("An answer to a question that was not asked yet is refused")
    func outOfTurn() {
        #expect(Self.failure(.smtp, ["220 hello\r\n250-me\r\n250 STARTTLS\r\n"])?.kind == .extraBytes)
        #expect(Self.failure(.imap, ["* OK hello\r\n* CAPABILITY STARTTLS\r\na1 OK\r\n"])?.kind == .extraBytes)
        #expect(Self.failure(.pop3, ["+OK hello\r\n+OK begin\r\n"])?.kind == .extraBytes)
    }

    @Test(
        "A server that says no is quoted",
        arguments: [
            (.smtp, ["554 no service\r\n"], "no service"),
            (.smtp, ["220 hi\r\n", "502 what\r\n"], "502 what"),
            (.smtp, ["220 hi\r\n", "250-STARTTLS.example.com\r\n250 SIZE\r\n"], "does not offer STARTTLS"),
            (.smtp, ["220 hi\r\n", "250-STARTTLS\r\n250 SIZE\r\n"], "does not offer STARTTLS"),
            (.smtp, ["220 hi\r\n", "250-me\r\n250 STARTTLS\r\n", "454 TLS not\r\n"], "454 TLS not"),
            (.imap, ["* BYE overloaded\r\n"], "overloaded"),
            (.imap, ["* PREAUTH hello\r\n"], "authenticated already"),
            (.imap, ["* OK hi\r\n", "* CAPABILITY IMAP4rev1\r\na1 OK\r\n"], "does not offer STARTTLS"),
            (.imap, ["* OK hi\r\n", "a1 BAD what\r\n"], "a1 BAD what"),
            (.imap, ["* OK hi\r\n", "* CAPABILITY STARTTLS\r\na1 OK\r\n", "a2 NO sorry\r\n"], "a2 NO sorry"),
            (.pop3, ["-ERR busy\r\n"], "-ERR busy"),
            (.pop3, ["+OK hi\r\n", "-ERR no TLS\r\n"], "-ERR no TLS"),
            (.postgres, ["N"], "does not offer TLS"),
            (.postgres, ["E\0\0\0\u{8}evil"], "with an error"),
        ] as [(StartTLSProtocol, [String], String)])
    func refusals(name: StartTLSProtocol, words: [String], hint: String) throws {
        let failure = try #require(Self.failure(name, words))
        #expect(failure.kind == .refused)
        #expect(failure.message.contains(hint))
        #expect(!failure.message.contains("evil"))
    }

    @Test("Refusals of LDAP and MySQL are named")
    func binaryRefusals() throws {
        let result: [UInt8] = [0x0A, 0x01, 0x35, 0x04, 0x00, 0x04, 0x02, 0x6E, 0x6F]
        let response = [0x02, 0x01, 0x01, 0x78, UInt8(result.count)] + result
        let ldap = try #require(Self.failure(LDAPDialogue(), [[0x30, UInt8(response.count)] + response]))
        #expect(ldap.kind == .refused)
        #expect(ldap.message.hasSuffix("result code 53 (unwillingToPerform): 'no'"))

        let plain = try #require(Self.failure(MySQLDialogue(), [StartTLSScripts.mysqlGreeting(flags: 0xF7FF)]))
        #expect(plain.kind == .refused)
        #expect(plain.message.contains("does not offer TLS"))
        let error: [UInt8] = [0xFF, 0x10, 0x04] + Array("#08004Too many".utf8)
        let full = try #require(Self.failure(MySQLDialogue(), [[UInt8(error.count), 0, 0, 0] + error]))
        #expect(full.kind == .refused)
        #expect(full.message.contains("'Too many'"))
    }

    @Test("LDAP may write lengths longer than needed, and name the operation")
    func ldapLengths() throws {
        let name = Array("1.3.6.1.4.1.1466.20037".utf8)
        let result: [UInt8] = [0x0A, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00, 0x8A, UInt8(name.count)] + name
        let response = [0x02, 0x01, 0x01, 0x78, 0x84, 0, 0, 0, UInt8(result.count)] + result
        let message = [0x30, 0x84, 0, 0, 0, UInt8(response.count)] + response
        let (_, isDone) = try Self.play([.say(message)], [LDAPDialogue()], chunk: 3)
        #expect(isDone)
    }

    @Test(
        "What is not the protocol is refused",
        arguments: [
            (.smtp, "220 bare line feed\n"), (.smtp, "22 short\r\n"), (.smtp, "220-a\r\n250 b\r\n"),
            (.smtp, "HTTP/1.1 400 Bad Request\r\n"), (.imap, "+OK hello\r\n"), (.imap, "\r\n"), (.pop3, "220 hi\r\n"),
            (.postgres, "H"), (.mysql, "\u{1}\0\0\u{1}\u{A}"), (.mysql, "\u{1}\0\0\0\u{9}"),
            (.mysql, "\u{2}\0\0\0\u{A}x"),
            (.mysql, "\u{3}\0\0\0\u{A}x\0"), (.mysql, "\0\0\0\0"),
            (.ldap, "220 mail\r\n01234567890123456789012345678901234567890"),
            (.ldap, "0\u{2}\u{2}\0"), (.ldap, "0\u{5}\u{2}\u{1}\u{1}x\0"),
        ] as [(StartTLSProtocol, String)])
    func malformed(name: StartTLSProtocol, words: String) {
        #expect(Self.failure(name, [words])?.kind == .malformed)
    }

    @Test("No server can make the client hold more than a limit", arguments: StartTLSProtocol.allCases)
    func limit(name: StartTLSProtocol) {
        var sequence = DialogueSequence([name.dialogue])
        _ = sequence.start()
        let words = Array(
            ["imap": "* OK hi\r\n", "smtp": "220 hi\r\n", "pop3": "+OK hi\r\n"][name.rawValue, default: ""].utf8)
        #expect(throws: Never.self) { if !words.isEmpty { _ = try sequence.receive(words) } }
        let line = Array("250-x\r\n".utf8)
        #expect(throws: DialogueFailure.self) {
            for _ in 0..<(PlaintextInput.limit / line.count + 2) { _ = try sequence.receive(line) }
        }
        #expect(Self.failure(name.dialogue, [Array(repeating: 0, count: PlaintextInput.limit + 1)])?.kind == .tooLong)
        #expect(Self.failure(SMTPDialogue(), Array(repeating: Array("220-x\r\n".utf8), count: 9_999))?.kind == .tooLong)
    }

    @Test("Lengths that are announced too long are refused at once")
    func announced() {
        #expect(Self.failure(LDAPDialogue(), [[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]])?.kind == .tooLong)
        #expect(Self.failure(LDAPDialogue(), [[0x30, 0x80]])?.kind == .malformed)
        #expect(Self.failure(LDAPDialogue(), [[0x30, 0x85, 0, 0, 0, 0, 1]])?.kind == .malformed)
        #expect(Self.failure(MySQLDialogue(), [[0xFF, 0xFF, 0xFF, 0]])?.kind == .malformed)
    }

    @Test("Any bytes at all give an answer and no crash", arguments: StartTLSProtocol.allCases)
    func noise(name: StartTLSProtocol) throws {
        let script = try #require(StartTLSScripts.all[name.rawValue])
        let said = script.flatMap { line -> [UInt8] in if case .say(let bytes) = line { bytes } else { [] } }
        for position in said.indices {
            for byte: UInt8 in [0, 1, 0x0A, 0x30, 0x7F, 0x80, 0x84, 0xFF] {
                var bytes = said
                bytes[position] = byte
                _ = Self.failure(name.dialogue, [bytes])
                _ = Self.failure(name.dialogue, bytes.map { [$0] })
            }
        }
    }

    @Test("A proxy is asked for the target; its answer's headers and interim answers are passed over")
    func proxy() throws {
        let script: [ScriptedServer.Line] = [
            .say("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"),
            .say("HTTP/1.0 200 Connection established\r\nVia: x\r\nContent-Length: 7\r\n\r\n"),
        ]
        for chunk in [1, Int.max] {
            let (said, isDone) = try Self.play(script, [ProxyDialogue(target: "[::1]:443")], chunk: chunk)
            #expect(isDone)
            #expect(said == Array("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n".utf8))
        }
        let proxy = ProxyDialogue(target: "a:1")
        func kind(_ text: String) -> DialogueFailure.Kind? { Self.failure(proxy, [Array(text.utf8)])?.kind }
        #expect(kind("HTTP/1.1 200 OK\r\n\r\nx") == .extraBytes)
        #expect(kind("HTTP/1.1 407 Proxy Authentication Required\r\n") == .refused)
        #expect(kind("HTTP/1.1 101 Switching\r\n\r\n") == .refused)
        #expect(kind("HTTP/2 200\r\n") == .malformed)
        #expect(kind("220 mail.example.com\r\n") == .malformed)
    }

    @Test("Behind a proxy a server that speaks first may do so at once, one that does not may not")
    func proxyThenServer() throws {
        let accepted = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        var smtp = DialogueSequence([ProxyDialogue(target: "a:25"), SMTPDialogue()])
        _ = smtp.start()
        #expect(try smtp.receive(accepted + Array("220 hi\r\n".utf8)).send == Array("EHLO [127.0.0.1]\r\n".utf8))
        var postgres = DialogueSequence([ProxyDialogue(target: "a:5432"), PostgresDialogue()])
        _ = postgres.start()
        #expect(throws: DialogueFailure.self) { try postgres.receive(accepted + [0x53]) }
        var patient = DialogueSequence([ProxyDialogue(target: "a:5432"), PostgresDialogue()])
        _ = patient.start()
        #expect(try patient.receive(accepted).send == StartTLSScripts.postgresRequest)
        #expect(try patient.receive([0x53]).isDone)
    }
}
