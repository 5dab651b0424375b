import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Testing

@Suite("What a host shows behind a proxy", .timeLimit(.minutes(5)))
struct ProxyProbeTests {
    @Test("A proxy that refuses, closes or is silent is known by its address and its reason")
    func noTLS() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        let asked = ScriptedServer.Line.hear("CONNECT \(LoopbackFleet.name):443 HTTP/1.1\r\n")
        for (script, limit, code) in [
            ([asked, .say("HTTP/1.1 403 No\r\n\r\n")], Duration.seconds(60), ProbeFailure.Code.refusedBeforeTLS),
            ([asked, .close], .seconds(60), .failedBeforeTLS),
            ([], .milliseconds(200), .timedOut),
        ] {
            let server = try await ScriptedServer.start(script, serving: leaf)
            var probe = try HostProbe(trusting: root)
            probe.proxies = ProxySettings(always: try ProxyServer("127.0.0.1:\(server.port)"))
            probe.deadlines.handshake = limit
            let findings = await probe.ask(try DialedHost(LoopbackFleet.name))
            await server.shutdown()
            #expect(findings.failures.map(\.code) == [code])
            #expect(findings.sightings.first?.proxy?.address == (try IPAddress("127.0.0.1")))
            #expect(server.record.handshakes == 0)
        }
    }
}
