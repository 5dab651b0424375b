import Foundation
import HoldfastProbe
import HoldfastTesting
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

@Suite("How a canary's clients get what they judge by", .timeLimit(.minutes(10)))
struct CanaryWayTests {
    private static let day: Int64 = 86_400

    /// A world where the canary has a change, and a listener that answers apps: with nothing, at first.
    private func withCanary(
        _ kinds: [ContentFormat.Kind], _ settings: ListenerSettings? = nil,
        _ body: (World, _ older: PublishedSnapshot, _ site: ServingSite, _ port: Int, ListenerCounters) async throws ->
            Void
    ) async throws {
        try await World.run(canary: Self.day) { world in
            let formats = try kinds.map { try ContentFormat($0, refresh: 3_600) }
            try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
            let older = world.publisher.live.current
            let change = try await world.approved(formats).change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            let (site, counters) = (try ServingSite(), ListenerCounters())
            site.time.withLock { $0 = world.now }
            try await site.listening(settings, counters: counters) { port in
                try await body(world, older, site, port, counters)
            }
        }
    }

    private func answers(_ counters: ListenerCounters, status: Int) -> Int {
        let text = MetricsText(families: counters.families).text
        let name = #"holdfast_answers_total{route="challenge",status="\#(status)"} "#
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }

    private func expectWaiting(
        _ world: World, for words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let problems = await world.publisher.probeCanaries()
        #expect(
            problems.count == 1
                && problems[0].contains(
                    "whether CertStore apps with challenge answers of bank-canary can connect: \(words)"),
            "\(problems)", sourceLocation: sourceLocation)
    }

    @Test("Challenges are asked at the address where apps ask them, and without an answer the canary waits")
    func address() async throws {
        try await withCanary([.list, .challenge]) { world, _, site, port, counters in
            let base = "http://127.0.0.1:\(port)"
            try await world.catalog.set(FolderAddress(base, answers: base), of: world.app, by: "operator")
            site.live.replace(with: world.publisher.live.current)
            #expect(await world.publisher.probeCanaries() == [])
            #expect(answers(counters, status: 200) == 1)
            site.time.withLock { $0 = nil }
            await expectWaiting(world, for: "networkError")
            #expect(answers(counters, status: 503) == 1)
        }
    }

    @Test("A serving process asks its own listener, and an answer about what was there before counts for nothing")
    func listener() async throws {
        try await withCanary([.list, .challenge]) { world, older, site, port, counters in
            // Before it listens, they are answered as the listener would.
            #expect(await world.publisher.probeCanaries() == [])
            #expect(answers(counters, status: 200) == 0)
            world.publisher.listener.listens(on: "127.0.0.1", port: port)
            await expectWaiting(world, for: "networkError")
            #expect(answers(counters, status: 404) == 1)
            site.live.replace(with: older)
            let problems = await world.publisher.probeCanaries()
            #expect(
                problems.count == 1 && problems[0].contains("challenge answers of bank-canary")
                    && problems[0].contains("the address has another document than the canary"), "\(problems)")
            #expect(answers(counters, status: 200) == 1)
            site.live.replace(with: world.publisher.live.current)
            #expect(await world.publisher.probeCanaries() == [])
            #expect(answers(counters, status: 200) == 2)
            // An address that no client can reach, or only one that knows the interface, gives no URL.
            for host in [nil, "fe80::1"] {
                world.publisher.listener.listens(on: host, port: port)
                #expect(world.publisher.listener.url == nil)
            }
            world.publisher.listener.listens(on: "0.0.0.0", port: port)
            #expect(await world.publisher.probeCanaries() == [])
            #expect(answers(counters, status: 200) == 3)
        }
    }

    /// An address of this machine that others can reach as well; nil if it has none.
    static var reachable: String? {
        let addresses = (try? System.enumerateDevices())?.compactMap(\.address) ?? []
        return addresses.first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress
    }

    @Test(
        "A listener that proxies ask without TLS is asked at its own address, over its socket, whoever forwards there",
        .needs(.addressBeyondLoopback),
        arguments: ["198.51.100.0/24", "a block with the address itself"])
    func listenerBehindProxies(_ block: String) async throws {
        let host = try #require(Self.reachable)
        let proxies = TrustedProxies([try AddressBlock(block.first == "a" ? "\(host)/32" : block)])
        let settings = try ListenerSettings(host: host, port: 0, proxies: proxies)
        try await withCanary([.list, .challenge], settings) { world, older, site, port, counters in
            world.publisher.listener.listens(on: host, port: port)
            #expect(world.publisher.listener.url?.absoluteString == "http://\(host):\(port)")
            await expectWaiting(world, for: "networkError")
            #expect(answers(counters, status: 404) == 1)
            site.live.replace(with: older)
            let problems = await world.publisher.probeCanaries()
            #expect(
                problems.count == 1 && problems[0].contains("the address has another document than the canary"),
                "\(problems)")
            site.live.replace(with: world.publisher.live.current)
            #expect(await world.publisher.probeCanaries() == [])
            #expect(answers(counters, status: 200) == 2)
        }
    }

    @Test("Nothing is sent without TLS to an address that has become another machine's")
    func otherMachine() throws {
        for (own, isSame) in [("192.0.2.2", true), ("192.0.2.7", false), (nil, false)] as [(String?, Bool)] {
            let channel = EmbeddedChannel(handler: OwnAddressHandler())
            channel.localAddress = try own.map { try SocketAddress(ipAddress: $0, port: 50_000) }
            try? channel.connect(to: SocketAddress(ipAddress: "192.0.2.2", port: 8_080)).wait()
            #expect(channel.isActive == isSame, "from \(own ?? "nowhere")")
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test("A listener that speaks TLS is asked over TLS, and answers count only with the certificate that it shows")
    func listenerOverTLS() async throws {
        let authority = try TestAuthority.root(name: "Known to nobody")
        try await withFolder { folder in
            let files = ListenerFiles(folder)
            let first = try files.install(authority)
            let identity = try TLSIdentity(certificates: files.chain, key: files.key)
            let settings = try ListenerSettings(port: 0, identity: identity)
            try await withCanary([.list, .challenge], settings) { world, _, site, port, counters in
                site.live.replace(with: world.publisher.live.current)
                world.publisher.listener.listens(on: "127.0.0.1", port: port) { identity.leaf }
                #expect(world.publisher.listener.url?.scheme == "https")
                #expect(await world.publisher.probeCanaries() == [])
                #expect(answers(counters, status: 200) == 1)
                // Renewed, it shows another one from now on.
                #expect(try files.install(authority) != first)
                try identity.reload()
                #expect(await world.publisher.probeCanaries() == [])
                #expect(answers(counters, status: 200) == 2)
                // Another server in its place gets no request, although the authority is the same.
                world.publisher.listener.listens(on: "127.0.0.1", port: port) { first }
                await expectWaiting(world, for: "networkError")
                world.publisher.listener.listens(on: "127.0.0.1", port: port)
                await expectWaiting(world, for: "networkError")
                #expect(answers(counters, status: 200) == 2)
                for host in ["192.0.2.1", "2001:db8::1"] {
                    world.publisher.listener.listens(on: host, port: port) { identity.leaf }
                    #expect(world.publisher.listener.url?.scheme == "https")
                }
                world.publisher.listener.listens(on: "0.0.0.0", port: port) { identity.leaf }
                #expect(await world.publisher.probeCanaries() == [])
                #expect(answers(counters, status: 200) == 3)
            }
        }
    }

    @Test("A pin file has a client: one that a shown certificate would lock out holds the canary")
    func pinFiles() async throws {
        try await World.run(canary: Self.day) { world in
            let change = try await world.approved([ContentFormat(.pinFile, refresh: 3_600)]).change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            #expect(await world.publisher.probeCanaries() == [])
            try await world.everybodyFollows()
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.see(stranger, at: "192.0.2.2")
            let problems = await world.publisher.probeCanaries()
            let words = "builds that are made with pins/bank-canary.pins.json refuse \(World.host):443 at 192.0.2.2: "
            #expect(problems.count == 1 && problems[0].contains(words), "\(problems)")
            // A damaged one is refused, and another that is whole says nothing about the change.
            try await world.pass(CanaryProbes.maximumPause + 1)
            #expect(await world.publisher.probeCanaries() == [])
            let file = world.publisher.folder.url.appending(path: "pins/bank-canary.pins.json")
            let bytes = try Data(contentsOf: file)
            try Data(#"{"schema":1"#.utf8).write(to: file)
            let damaged = await world.publisher.probeCanaries()
            #expect(
                damaged.count == 1 && damaged[0].contains("pins/bank-canary.pins.json refuse it: expected"),
                "\(damaged)")
            try (bytes + Data("\n".utf8)).write(to: file)
            let other = await world.publisher.probeCanaries()
            #expect(other.count == 1 && other[0].contains("the address has another document"), "\(other)")
        }
    }
}
