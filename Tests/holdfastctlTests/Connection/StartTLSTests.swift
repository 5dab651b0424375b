import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl --starttls")
struct StartTLSTests {
    @Test("A server is checked behind its go-ahead", arguments: [StartTLSProtocol.smtp])
    func check(name: StartTLSProtocol) async throws {
        let site = try TestSite()
        let script = try #require(StartTLSScripts.all[name.rawValue])
        let (run, server) = try await site.run("check", ["--starttls", name.rawValue], script: script)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("api.example.com:\(name.defaultPort) at 127.0.0.1:"))
        #expect(run.output.contains("Trusted: "))
        #expect(server.surprises.isEmpty)
        #expect(server.handshakes == 1)
        #expect(server.plaintextBytesInTLS == 0)
    }

    @Test("Behind a go-ahead a server is judged as any other", arguments: [StartTLSProtocol.smtp, .postgres])
    func untrusted(name: StartTLSProtocol) async throws {
        let site = try TestSite()
        let script = try #require(StartTLSScripts.all[name.rawValue])
        let (run, server) = try await site.run(
            "check", ["--starttls", name.rawValue], script: script, trustingRoot: false)
        #expect(run.status == 1)
        #expect(run.output.contains("unknownIssuer"))
        #expect(server.handshakes == 0)
    }

    @Test("pin goes the same way")
    func pin() async throws {
        let site = try TestSite()
        let (run, server) = try await site.run("pin", ["--starttls", "imap"], script: StartTLSScripts.imap)
        #expect(run.status == 0, "\(run.errors)")
        for pin in try site.keyPins() { #expect(run.lines.contains { $0 == pin }) }
        #expect(server.handshakes == 1)
    }

    @Test("Plaintext after the go-ahead ends the connection before TLS", arguments: [StartTLSProtocol.postgres])
    func injection(name: StartTLSProtocol) async throws {
        let site = try TestSite()
        var script = try #require(StartTLSScripts.all[name.rawValue])
        let place = try #require(script.lastIndex { if case .say = $0 { true } else { false } })
        guard case .say(let words) = script[place] else { return }
        script[place] = .say(words + Array("* injected\r\n".utf8))
        let (run, server) = try await site.run("check", ["--starttls", name.rawValue, "--json"], script: script)
        #expect(run.status == 3)
        #expect(try run.json(CheckTests.Report.self).error?.code == "failedBeforeTLS")
        #expect(run.errors.contains("STARTTLS injection"))
        #expect(server.handshakes == 0)
    }

    @Test("A refusal exits with 3, quotes the server and sends nothing more")
    func refused() async throws {
        let site = try TestSite()
        let script: [ScriptedServer.Line] = [
            .say("220 hi\r\n"), .hear("EHLO [127.0.0.1]\r\n"), .say("250-me\r\n250 STARTTLS\r\n"),
            .hear("STARTTLS\r\n"),
            .say("454 4.7.0 TLS \u{1B}[31m not available\r\n"),
        ]
        for verb in ["check", "pin"] {
            let (run, server) = try await site.run(verb, ["--starttls", "smtp"], script: script)
            #expect(run.status == 3)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("no TLS with 127.0.0.1:"))
            #expect(run.errors.contains("the SMTP server refused: '454 4.7.0 TLS"))
            #expect(!run.actsOnTerminal)
            #expect(server.bytesAfterEnd == 0)
        }
        let (json, _) = try await site.run("check", ["--starttls", "smtp", "--json"], script: script)
        #expect(try json.json(CheckTests.Report.self).error?.code == "refusedBeforeTLS")
    }

    @Test("A server that closes or falls silent is given up on")
    func noAnswer() async throws {
        let site = try TestSite()
        let (closed, _) = try await site.run("check", ["--starttls", "pop3"], script: [.say("+OK hi\r\n"), .close])
        #expect(closed.status == 3)
        #expect(closed.errors.contains("the connection was closed before TLS began"))
        let (silent, _) = try await site.run("check", ["--starttls", "pop3", "--timeout", "1s", "--json"], script: [])
        #expect(silent.status == 3)
        #expect(try silent.json(CheckTests.Report.self).error?.code == "timedOut")
    }

    @Test(
        "A real PostgreSQL is checked, with TLS and without",
        .needs(.postgreSQL))
    func postgres() async throws {
        let site = try TestSite()
        try await PostgresServer.run(serving: site.leaf) { port in
            try await withTemporaryFolder { folder in
                let ca = folder.appending(path: "root.pem")
                try Data(site.root.certificate.pem.utf8).write(to: ca)
                let arguments = [
                    "check", TestSite.name, "--starttls", "postgres", "--ca", ca.path, "--connect-to",
                    "127.0.0.1:\(port)", "--timeout", "60s",
                ]
                let run = try await CommandRun.inProcess(arguments)
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output.hasPrefix("api.example.com:5432 at 127.0.0.1:\(port), TLS 1.3\n"))
                let stranger = try TestSite().keyPins()[0]
                #expect(try await CommandRun.inProcess(arguments + ["--pin", stranger]).status == 1)
            }
        }
        try await PostgresServer.run(serving: nil) { port in
            let run = try await CommandRun.inProcess([
                "pin", "127.0.0.1:\(port)", "--starttls", "postgres", "--timeout", "60s",
            ])
            #expect(run.status == 3)
            #expect(run.errors.contains("does not offer TLS (ssl is off)"))
        }
    }
}
