import Dispatch
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Network
import Testing

/// Connections of Network.framework to TLS servers on loopback.
@Suite("Network.framework against a TLS server", .timeLimit(.minutes(15)))
struct NetworkConnectionTests {
    /// Collects decisions from any thread.
    private final class Decisions: Sendable {
        private let codes = Lock<[String]>([])
        var all: [String] { codes.withLock { $0 } }

        init(of manager: TrustManager) {
            _ = manager.addObserver { [codes] decision in
                codes.withLock { $0.append(decision.failure?.code.rawValue ?? "trusted") }
            }
        }
    }

    private func connection(
        _ site: AppleSite, to server: LoopbackTLSServer, dialing name: String = AppleSite.address
    ) throws -> NWConnection {
        let options = NWProtocolTLS.Options()
        site.manager.protect(
            options.securityProtocolOptions, dialing: try DialedHost(name), anchors: try site.anchors)
        let port = try #require(NWEndpoint.Port(rawValue: UInt16(clamping: server.port)))
        return NWConnection(host: NWEndpoint.Host(name), port: port, using: NWParameters(tls: options))
    }

    /// Starts a connection and waits until it is ready, or known not to become so.
    private func becomesReady(_ connection: NWConnection) async -> Bool {
        let states = AsyncStream.makeStream(of: Bool.self)
        connection.stateUpdateHandler = { state in
            switch state {
            case .ready: states.continuation.yield(true)
            // A connection that waits would try again when the network changes.
            case .failed, .waiting, .cancelled: states.continuation.yield(false)
            default: break
            }
        }
        connection.start(queue: DispatchQueue(label: "connection"))
        for await isReady in states.stream { return isReady }
        return false
    }

    private func echo(_ text: String, over connection: NWConnection) async -> String? {
        connection.send(content: Data(text.utf8), completion: .contentProcessed { _ in })
        return await withCheckedContinuation { continuation in
            let count = text.utf8.count
            connection.receive(minimumIncompleteLength: count, maximumLength: count) { data, _, _, _ in
                continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    @Test("The pinned server is connected to, and what is sent arrives")
    func pinned() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withLoopbackTLSServer(serving: site.leaf) { server in
            let connection = try connection(site, to: server)
            #expect(await becomesReady(connection))
            #expect(await echo("hello", over: connection) == "hello")
            connection.cancel()
        }
    }

    @Test("A server with another key of the same authority is refused, and no byte of the application's reaches it")
    func impostor() async throws {
        let site = try AppleSite()
        try site.pin()
        let decisions = Decisions(of: site.manager)
        try await withLoopbackTLSServer(serving: site.impostor()) { server in
            let connection = try connection(site, to: server)
            connection.send(content: Data("secret".utf8), completion: .contentProcessed { _ in })
            #expect(await !becomesReady(connection))
            connection.cancel()
            #expect(server.statistics.plaintextBytesReceived == 0)
            #expect(Set(decisions.all) == ["pinMismatch"])
        }
    }

    @Test("Every connection is asked about: none resumes the session of another")
    func resumption() async throws {
        let site = try AppleSite()
        try site.pin()
        let decisions = Decisions(of: site.manager)
        try await withLoopbackTLSServer(serving: site.leaf) { server in
            for _ in 0..<3 {
                let connection = try connection(site, to: server)
                #expect(await becomesReady(connection))
                #expect(await echo("hello", over: connection) == "hello")
                connection.cancel()
            }
        }
        #expect(decisions.all.filter { $0 == "trusted" }.count >= 3)
    }

    @Test("The server is told the name that is dialed")
    func serverName() async throws {
        let site = try AppleSite()
        let name = "localhost"
        let pin = try Pin.publicKey(of: site.leaf.der)
        site.manager.add(policy: try PinnedPolicy(host: HostPattern(name), pins: PinSet(pins: [pin])))
        try await withLoopbackTLSServer(serving: site.leaf) { server in
            let connection = try connection(site, to: server, dialing: name)
            #expect(await becomesReady(connection))
            #expect(server.statistics.lastServerName == name)
            connection.cancel()
        }
    }
}
