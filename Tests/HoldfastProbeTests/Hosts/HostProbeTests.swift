import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastProbe

@Suite("What a host shows", .timeLimit(.minutes(5)))
struct HostProbeTests {
    @Test(
        "Every address of the name is asked by that name, and each certificate is a sighting with its address",
        .needs(.wholeLoopbackBlock))
    func everyAddress() async throws {
        let root = try TestAuthority.root()
        let leaves = try (0..<3).map { _ in try root.leaf(names: [.dns(LoopbackFleet.name)]) }
        let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        try await LoopbackFleet.with(Array(zip(addresses, leaves)).map { ($0, $1) }) { fleet in
            let findings = await (try HostProbe(trusting: root, resolving: addresses)).ask(try fleet.host)
            #expect(findings.failures.isEmpty)
            #expect(
                findings.sightings.map { $0.address?.description } == addresses.map { "\($0):\(fleet.port)" })
            #expect(findings.shown.map { $0.decision.chain?.leaf } == leaves.map(\.der))
            #expect(findings.shown.allSatisfy { $0.decision.isTrusted && $0.tlsVersion == "TLS 1.3" })
            for server in fleet.servers {
                #expect(server.statistics.lastServerName == LoopbackFleet.name)
                // One for each kind of key.
                #expect(server.statistics.connectionsAccepted == 2)
            }
        }
    }

    @Test(
        "An address that refuses, closes or is silent is known in its row, in each of many rows",
        .needs(.wholeLoopbackBlock))
    func addressAlwaysKnown() async throws {
        let root = try TestAuthority.root()
        let closing = try await ClosingServer.start()
        var probe = try HostProbe(trusting: root)
        probe.addressesAtOnce = 64
        let addresses = (1...60).map { "127.0.1.\($0)" }
        probe.resolver = .fixed(try addresses.map { try IPAddress($0) })
        // No server listens on port 1; the other server accepts, and closes the connection at once.
        for port in [1, closing.port] {
            for _ in 0..<3 {
                let findings = await probe.ask(try DialedHost(LoopbackFleet.name, port: port))
                #expect(findings.sightings.count == 60)
                #expect(findings.sightings.map { $0.address?.description } == addresses.map { "\($0):\(port)" })
                #expect(findings.failures.count == 60)
                for failure in findings.failures { #expect(failure.place.hasSuffix(":\(port)")) }
            }
        }
        await closing.shutdown()
    }

    @Test(
        "A name with more addresses than are asked has a row for each of the others",
        .needs(.wholeLoopbackBlock))
    func tooManyAddresses() async throws {
        let root = try TestAuthority.root()
        let addresses = (1...70).map { "127.0.2.\($0)" }
        let findings = await (try HostProbe(trusting: root, resolving: addresses)).ask(
            try DialedHost(LoopbackFleet.name, port: 1))
        #expect(findings.sightings.compactMap(\.address).count == 70)
        #expect(findings.failures.count { $0.code == .tooManyAddresses } == 6)
        #expect(findings.failures.count { $0.code == .unreachable } == 64)
    }

    @Test("A connection that is refused is unreachable, a name without addresses is not resolved")
    func codes() async throws {
        let root = try TestAuthority.root()
        let refused = await (try HostProbe(trusting: root, resolving: ["127.0.0.1"])).ask(
            try DialedHost(LoopbackFleet.name, port: 1))
        #expect(refused.failures.map(\.code) == [.unreachable])
        #expect(refused.failures.first?.sentence == "cannot connect to 127.0.0.1:1: connection refused")
        let unknown = await (try HostProbe(trusting: root, resolving: [])).ask(try DialedHost(LoopbackFleet.name))
        #expect(unknown.failures.map(\.code) == [.resolveFailed])
        #expect(unknown.sightings.count == 1 && unknown.sightings.first?.address == nil)
        var probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
        probe.families = [.ipv6]
        #expect(await probe.ask(try DialedHost(LoopbackFleet.name, port: 1)).failures.map(\.code) == [.resolveFailed])
    }

    @Test("A family without a route is known as such where the host answered at the other, and its addresses count")
    func unroutable() throws {
        let host = try DialedHost(LoopbackFleet.name, port: 443)
        let shown = ShownChain(
            decision: StandardPolicy(host: HostPattern(host)).evaluate(
                ServerTrust(
                    chain: PresentedChain([]), purpose: .server(identity: host),
                    validator: PathValidator(anchors: TrustAnchors([]))), at: SystemWallClock().now),
            tlsVersion: nil, asksForClientCertificate: nil)
        func findings(_ rows: (address: String, code: ProbeFailure.Code?)...) throws -> HostFindings {
            HostFindings(
                host: host,
                try rows.map { row in
                    let failure = row.code.map {
                        ProbeFailure($0, at: row.address, expected: "", found: "", sentence: "")
                    }
                    return Sighting(
                        host: host, address: PeerAddress(try IPAddress(row.address), port: 443),
                        result: failure.map { .failure($0) } ?? .success(shown))
                })
        }
        let mixed = try findings(("192.0.2.1", nil), ("2001:db8::1", .unroutable))
        #expect(mixed.familiesWithoutRoute == [.ipv6])
        #expect(mixed.failures.map(\.code) == [.unroutable])
        // Nothing answered.
        #expect(try findings(("192.0.2.1", .unreachable), ("2001:db8::1", .unroutable)).familiesWithoutRoute.isEmpty)
        // Another address of the family has a route, so this is an outage.
        #expect(
            try findings(("192.0.2.1", nil), ("2001:db8::1", .unroutable), ("2001:db8::2", .unreachable))
                .familiesWithoutRoute.isEmpty)
        // Refused is not without a route.
        #expect(try findings(("192.0.2.1", nil), ("2001:db8::1", .unreachable)).familiesWithoutRoute.isEmpty)
    }

    @Test("Each deadline ends what it is about, and the one for all ends everything")
    func deadlines() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .stalled)) { server in
            let host = try DialedHost(LoopbackFleet.name, port: server.port)
            var probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
            probe.deadlines.handshake = .milliseconds(50)
            let handshake = await probe.ask(host)
            #expect(handshake.failures.map(\.code) == [.timedOut])
            #expect(handshake.sightings.first?.address?.description == "127.0.0.1:\(server.port)")

            probe.deadlines.handshake = .seconds(60)
            probe.deadlines.whole = .milliseconds(50)
            let whole = await probe.ask(host)
            #expect(whole.failures.map(\.code) == [.timedOut])
            #expect(whole.failures.first?.found == "none")
            #expect(whole.sightings.first?.address?.description == "127.0.0.1:\(server.port)")

            probe.deadlines.whole = .seconds(60)
            probe.deadlines.resolving = .milliseconds(50)
            probe.resolver = AddressResolver { name throws(ProbeFailure) in
                try? await Task.sleep(for: .seconds(3_600))
                throw .noAddress(of: name)
            }
            let resolving = await probe.ask(host)
            #expect(resolving.failures.map(\.code) == [.timedOut])
            #expect(resolving.failures.first?.sentence.hasPrefix("the addresses of api.example.com were not") == true)
        }
    }

    @Test("Several hosts are asked side by side, each with its policy, in their order")
    func several() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
            let hosts = try (0..<12).map {
                try DialedHost($0 % 3 == 0 ? "other.example" : LoopbackFleet.name, port: server.port)
            }
            let findings = await probe.ask(hosts) { StandardPolicy(host: HostPattern($0)) }
            #expect(findings.map(\.host) == hosts)
            #expect(
                findings.map { $0.shown.map(\.decision.isTrusted) } == (0..<12).map { [$0 % 3 != 0] })
        }
    }

    @Test("A certificate for each kind of key is a sighting of its own", .needs(.openSSL))
    func kindsOfKeys() async throws {
        let root = try TestAuthority.root()
        let rsa = try root.leaf(names: [.dns(LoopbackFleet.name)], key: .sharedRSA(bits: 2048, index: 0))
        let ecdsa = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withTemporaryFolder { folder in
            let (certificate, key) = (folder.appending(path: "rsa.pem"), folder.appending(path: "rsa.key"))
            try Data(TestCertificate.pem(rsa.der).utf8).write(to: certificate)
            try Data(rsa.key.privateKeyPEM.utf8).write(to: key)
            let server = try await OpenSSLServer.start(
                serving: ecdsa, arguments: ["-dcert", certificate.path, "-dkey", key.path])
            let findings = await (try HostProbe(trusting: root, resolving: ["127.0.0.1"])).ask(
                try DialedHost(LoopbackFleet.name, port: server.port))
            await server.stop()
            #expect(findings.failures.isEmpty)
            #expect(Set(findings.shown.compactMap { $0.decision.chain?.leaf }) == [rsa.der, ecdsa.der])
            #expect(findings.sightings.map(\.offer).first == .any)
        }
    }

    @Test(
        "A server that says with an alert that it has no other kind of key has one kind, in every version",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func noOtherKey(_ version: TLSVersion) async throws {
        let root = try TestAuthority.root()
        for key in [TestKey.Choice.p256, .sharedRSA(bits: 2048, index: 0)] {
            let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)], key: key)
            let options = LoopbackTLSServer.Options(newestTLSVersion: version)
            try await withLoopbackTLSServer(serving: leaf, options: options) { server in
                let findings = await (try HostProbe(trusting: root, resolving: ["127.0.0.1"])).ask(
                    try DialedHost(LoopbackFleet.name, port: server.port))
                #expect(findings.failures.isEmpty, "\(findings.failures)")
                #expect(findings.shown.map { $0.decision.chain?.leaf } == [leaf.der])
                #expect(server.statistics.connectionsAccepted == 2)
            }
        }
    }

    @Test(
        "A server that shows another kind of key, although not for this use, has one: it is not said to have none",
        .needs(.openSSL))
    func wrongUse() async throws {
        let root = try TestAuthority.root()
        let rsa = try root.leaf(names: [.dns(LoopbackFleet.name)], key: .sharedRSA(bits: 2048, index: 0)) {
            $0.keyUsage = .keyEncipherment
        }
        let ecdsa = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withTemporaryFolder { folder in
            let (certificate, key) = (folder.appending(path: "rsa.pem"), folder.appending(path: "rsa.key"))
            try Data(TestCertificate.pem(rsa.der).utf8).write(to: certificate)
            try Data(rsa.key.privateKeyPEM.utf8).write(to: key)
            let server = try await OpenSSLServer.start(
                serving: ecdsa, arguments: ["-dcert", certificate.path, "-dkey", key.path])
            let findings = await (try HostProbe(trusting: root, resolving: ["127.0.0.1"])).ask(
                try DialedHost(LoopbackFleet.name, port: server.port))
            await server.stop()
            #expect(findings.failures.map(\.code) == [.otherKeyUnknown], "\(findings.failures)")
        }
    }

    @Test("A server that merely closes the connection for the other kind of key may have one: nobody knows")
    func closesSecond() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        let server = try await OnceServer.start(serving: leaf)
        var probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
        let host = try DialedHost(LoopbackFleet.name, port: server.port)
        let findings = await probe.ask(host)
        #expect(findings.shown.map { $0.decision.chain?.leaf } == [leaf.der])
        #expect(findings.failures.map(\.code) == [.otherKeyUnknown], "\(findings.failures)")
        #expect(findings.sightings.map(\.offer) == [.any, .rsa])
        #expect(findings.failures.first?.sentence.contains("127.0.0.1:\(server.port) has a key for RSA") == true)
        let ends = ["the server closed the connection", "connection reset"]
        #expect(ends.contains { findings.failures.first?.sentence.hasSuffix($0) == true }, "\(findings.failures)")
        // However often it is asked, it is said once.
        probe.connectionsPerAddress = 6
        await server.reset()
        #expect(await probe.ask(host).failures.map(\.code) == [.otherKeyUnknown])
        // The operator knows that it has one kind.
        await server.reset()
        probe.connectionsPerAddress = 2
        probe.asksForOtherKeys = false
        let alone = await probe.ask(host)
        #expect(alone.failures.isEmpty && alone.shown.count == 1)
        await server.shutdown()
    }

    @Test(
        "A server that cannot be reached for the other kind of key may have one, and its address was asked all the same"
    )
    func goneForSecond() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        let server = try await OnceServer.start(serving: leaf, vanishes: true)
        let host = try DialedHost(LoopbackFleet.name, port: server.port)
        let findings = await (try HostProbe(trusting: root, resolving: ["127.0.0.1"])).ask(host)
        #expect(findings.shown.map { $0.decision.chain?.leaf } == [leaf.der])
        #expect(findings.failures.map(\.code) == [.otherKeyUnknown], "\(findings.failures)")
        #expect(findings.failures.first?.sentence.contains("has a key for RSA as well: ") == true)
        #expect(findings.failures.first?.sentence.contains("refused") == true, "\(findings.failures)")
    }

    @Test("IPv6 is asked beside IPv4, and one family alone if that is asked for", .needs(.ipv6Loopback))
    func families() async throws {
        let root = try TestAuthority.root()
        let leaves = try (0..<2).map { _ in try root.leaf(names: [.dns(LoopbackFleet.name)]) }
        let addresses = ["127.0.0.1", "::1"]
        try await LoopbackFleet.with(Array(zip(addresses, leaves)).map { ($0, $1) }) { fleet in
            var probe = try HostProbe(trusting: root, resolving: addresses)
            let both = await probe.ask(try fleet.host)
            #expect(
                both.sightings.map { $0.address?.description } == ["127.0.0.1:\(fleet.port)", "[::1]:\(fleet.port)"])
            #expect(both.shown.map { $0.decision.chain?.leaf } == leaves.map(\.der))
            for (family, leaf) in zip([IPAddress.Family.ipv4, .ipv6], leaves) {
                probe.families = [family]
                #expect(await probe.ask(try fleet.host).shown.map { $0.decision.chain?.leaf } == [leaf.der])
            }
        }
    }

    // MARK: The filter

    @Test("An address that may not be asked is not connected to, and its row says why")
    func filtered() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let host = try DialedHost(LoopbackFleet.name, port: server.port)
            var probe = try HostProbe(trusting: root, resolving: ["127.0.0.1"])
            probe.filter = AddressFilter()
            for target in [nil, try DialedHost("127.0.0.1"), try DialedHost("localhost")] {
                probe.connectTo = target
                let findings = await probe.ask(host)
                #expect(findings.failures.map(\.code) == [.addressNotAllowed])
                #expect(findings.sightings.first?.address?.description == "127.0.0.1:\(server.port)")
            }
            probe.connectTo = nil
            probe.addresses = [try IPAddress("127.0.0.1")]
            #expect(await probe.ask(host).failures.map(\.code) == [.addressNotAllowed])
            #expect(server.statistics.connectionsAccepted == 0)

            probe.filter = try AddressFilter(allowing: [AddressBlock("127.0.0.0/8")])
            #expect(await probe.ask(host).shown.map(\.decision.isTrusted) == [true])
        }
    }

    @Test("A name is resolved once, so that it cannot change its mind after the filter")
    func rebinding() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let questions = Lock(0)
            let (first, second) = (try IPAddress("127.0.0.9"), try IPAddress("127.0.0.1"))
            var probe = try HostProbe(trusting: root)
            probe.filter = try AddressFilter(allowing: [AddressBlock("127.0.0.9/32")])
            probe.resolver = AddressResolver { _ throws(ProbeFailure) in
                questions.withLock { count in
                    count += 1
                    return [count == 1 ? first : second]
                }
            }
            let findings = await probe.ask(try DialedHost(LoopbackFleet.name, port: server.port))
            #expect(questions.withLock { $0 } == 1)
            #expect(findings.sightings.map { $0.address?.address } == [first])
            #expect(server.statistics.connectionsAccepted == 0)
        }
    }

    @Test("A socket that is connected to an address that may not be asked is closed before a byte is sent")
    func connectedElsewhere() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns(LoopbackFleet.name)])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let host = try DialedHost(LoopbackFleet.name, port: server.port)
            // The handshake is directed to an address that the filter would not allow.
            let handshake = Handshake(
                host: host, policy: StandardPolicy(host: HostPattern(host)),
                validator: PathValidator(anchors: try TrustAnchors(der: [root.root])), clock: SystemWallClock(),
                configuration: .makeClientConfiguration(), filter: AddressFilter(), deadlines: ProbeDeadlines(),
                group: MultiThreadedEventLoopGroup.singleton)
            let answer = await handshake.run(
                to: .address(PeerAddress(try IPAddress("127.0.0.1"), port: server.port)))
            if case .failure(let failure) = answer.result {
                #expect(failure.code == .addressNotAllowed)
                #expect(failure.found.contains("loopback"))
            } else {
                Issue.record("expected a failure")
            }
            try await server.waitForDisconnection()
            #expect(server.statistics.lastServerName == nil)
        }
    }
}

/// Accepts connections on every address of this machine, and closes them at once.
private struct ClosingServer {
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    static func start() async throws -> ClosingServer {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in channel.close() }
            .bind(host: "0.0.0.0", port: 0).get()
        return ClosingServer(channel: channel)
    }

    func shutdown() async { try? await channel.close() }
}

/// Makes one handshake, and closes every connection after it, as a server does that hides a second key.
private struct OnceServer {
    private let channel: any Channel
    private let isUsed: Lock<Bool>

    var port: Int { channel.localAddress?.port ?? 0 }

    /// - Parameter vanishes: whether the listener is closed after the first connection.
    static func start(serving leaf: TestCertificate, vanishes: Bool = false) async throws -> OnceServer {
        let context = try NIOSSLContext(configuration: try .testServer(leaf))
        let isUsed = Lock(false)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                let isSecond = isUsed.withLock { used in
                    defer { used = true }
                    return used
                }
                guard !isSecond else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    if vanishes, let listener = channel.parent {
                        try channel.pipeline.syncOperations.addHandler(VanishingListener(listener))
                    }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return OnceServer(channel: channel, isUsed: isUsed)
    }

    /// Lets it make a handshake again.
    func reset() async { isUsed.withLock { $0 = false } }

    func shutdown() async { try? await channel.close() }
}

/// Ends the listener before its first connection's handshake continues. Ending it while it hands the connection over
/// may end the connection as well.
private final class VanishingListener: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let listener: any Channel

    init(_ listener: any Channel) { self.listener = listener }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        listener.close(promise: nil)
        listener.closeFuture.hop(to: context.eventLoop).assumeIsolated().whenComplete { _ in
            context.fireChannelRead(data)
            context.fireChannelReadComplete()
        }
    }
}
