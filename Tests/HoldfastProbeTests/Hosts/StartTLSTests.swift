import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Testing

@Suite("What a host shows behind STARTTLS", .timeLimit(.minutes(5)))
struct StartTLSTests {
    /// Asks a server that follows a script.
    private static func ask(
        _ name: StartTLSProtocol, _ script: [ScriptedServer.Line], handshake limit: Duration = .seconds(60)
    ) async throws -> (findings: HostFindings, server: ScriptedServer.Record) {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        let server = try await ScriptedServer.start(script, serving: leaf)
        var probe = try HostProbe(trusting: root)
        probe.connectTo = try DialedHost("127.0.0.1", port: server.port)
        probe.startTLS = name
        probe.deadlines.handshake = limit
        let findings = await probe.ask(try DialedHost(LoopbackFleet.name))
        await server.shutdown()
        return (findings, server.record)
    }

    @Test("A server of each protocol is asked behind its go-ahead", arguments: StartTLSProtocol.allCases)
    func goAhead(name: StartTLSProtocol) async throws {
        let (findings, server) = try await Self.ask(name, try #require(StartTLSScripts.all[name.rawValue]))
        #expect(findings.host.port == name.defaultPort)
        #expect(findings.failures.isEmpty)
        #expect(findings.shown.map(\.decision.isTrusted) == [true])
        #expect(server.surprises.isEmpty && server.handshakes == 1 && server.plaintextBytesInTLS == 0)
    }

    @Test("Plaintext after the go-ahead ends the connection before TLS", arguments: StartTLSProtocol.allCases)
    func injection(name: StartTLSProtocol) async throws {
        var script = try #require(StartTLSScripts.all[name.rawValue])
        let place = try #require(script.lastIndex { if case .say = $0 { true } else { false } })
        guard case .say(let words) = script[place] else { return }
        script[place] = .say(words + Array("* injected\r\n".utf8))
        let (findings, server) = try await Self.ask(name, script)
        #expect(findings.failures.map(\.code) == [.failedBeforeTLS])
        #expect(findings.sightings.first?.address != nil)
        #expect(server.handshakes == 0)
    }

    @Test("A server that refuses, closes or is silent is known by its address and its reason")
    func noTLS() async throws {
        let greeting = ScriptedServer.Line.say("+OK hi\r\n")
        for (script, limit, code) in [
            (
                [greeting, .hear("STLS\r\n"), .say("-ERR no\r\n")], Duration.seconds(60),
                ProbeFailure.Code.refusedBeforeTLS
            ),
            ([greeting, .close], .seconds(60), .failedBeforeTLS),
            ([], .milliseconds(200), .timedOut),
        ] {
            let (findings, server) = try await Self.ask(.pop3, script, handshake: limit)
            #expect(findings.failures.map(\.code) == [code])
            #expect(findings.sightings.first?.address?.address == (try IPAddress("127.0.0.1")))
            #expect(server.handshakes == 0 && server.bytesAfterEnd == 0)
        }
    }
}
