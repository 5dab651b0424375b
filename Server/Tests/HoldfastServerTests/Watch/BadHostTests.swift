import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Hosts that answer badly, and names that resolve badly: people get an alert, no request waits, and no pin goes away.
@Suite("Hosts that answer badly", .timeLimit(.minutes(3)))
struct BadHostTests {
    /// The behavior of a server that speaks no TLS.
    enum Flood: CaseIterable, Sendable {
        /// Ends the connection at once.
        case nothing
        /// Sends bytes that are no TLS, without end.
        case noise
        /// Sends the beginnings of handshake messages, without end.
        case records

        var bytes: [UInt8] {
            switch self {
            case .nothing: []
            case .noise: [UInt8](repeating: 0x47, count: 1 << 14)
            // A ServerHello of 16 MiB, in records of 16 KiB.
            case .records: [0x16, 3, 3, 0x40, 0, 2, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 3, count: (1 << 14) - 4)
            }
        }
    }

    /// Sends the same bytes as long as the other side takes them.
    private final class FloodHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: ByteBuffer

        init(_ flood: Flood) { bytes = ByteBuffer(bytes: flood.bytes) }

        func channelActive(context: ChannelHandlerContext) {
            if bytes.readableBytes == 0 { context.close(promise: nil) } else { fill(context) }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) { fill(context) }

        private func fill(_ context: ChannelHandlerContext) {
            while context.channel.isActive, context.channel.isWritable {
                context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            }
        }
    }

    /// A published list of a host that listens, and a server beside it on another address.
    private func run(
        _ body: (_ world: World, _ shop: Shop, _ port: Int, _ unchanged: () async throws -> Void) async throws -> Void
    ) async throws {
        try await World.run { world in
            try await withLoopbackTLSServer(serving: world.shown) { server in
                let shop = try await Shop([.list], on: server.port, in: world)
                try await shop.announce(world.shown.chain, in: 0)
                #expect(try await shop.verdicts() == [.known])
                try await shop.publish()
                let served = world.publisher.live.current.documents.mapValues(\.bytes)
                try await body(world, shop, server.port) {
                    try await world.publisher.refresh()
                    #expect(world.publisher.live.current.documents.mapValues(\.bytes) == served)
                    #expect(world.catalog.ledger.proposals.count == 1)
                    let content = try #require(try await world.publisher.published(shop.app))
                    #expect(content.hosts.first?.certificates.count == 2)
                }
            }
        }
    }

    @Test(
        "A host that floods or ends connections is unreadable, which stops changes and nothing else",
        arguments: Flood.allCases)
    func floods(_ flood: Flood) async throws {
        try await run { world, shop, port, unchanged in
            let flooding = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(FloodHandler(flood))
                    }
                }
                .bind(host: "127.0.0.3", port: port).get()
            let report = try await shop.look(resolvingTo: ["127.0.0.1", "127.0.0.3"])
            let other = report.findings.filter { $0.place.hasPrefix("127.0.0.3") }
            #expect(!other.isEmpty && other.allSatisfy { $0.verdict == .unreadable }, "\(report)")
            #expect(report.alarms == [])
            try await unchanged()
            let refusal = try await world.propose(world.catalog.draft(of: shop.app)).report.refusal
            #expect(refusal?.gate == .outlook && refusal?.refusals.first?.contains("127.0.0.3") == true, "\(report)")
            try await flooding.close().get()
            // The name is right again.
            #expect(try await shop.verdicts() == [.known])
        }
    }

    @Test("A host that stalls is unreadable after the deadline, and a look at other hosts does not wait for it")
    func stalls() async throws {
        try await run { world, shop, port, unchanged in
            let options = LoopbackTLSServer.Options(behavior: .stalled, address: "127.0.0.3", port: port)
            let stalling = try await LoopbackTLSServer.start(serving: world.shown, options: options)
            let deadlines = ProbeDeadlines(handshake: .seconds(3), whole: .seconds(60))
            let report = try await shop.look(
                resolvingTo: ["127.0.0.3", "127.0.0.1"], within: deadlines)
            let found = Dictionary(grouping: report.findings) { $0.place.hasPrefix("127.0.0.3") }
            #expect(found[true]?.allSatisfy { $0.verdict == .unreadable } == true, "\(report)")
            #expect(found[false]?.map(\.verdict) == [.known], "\(report)")
            try await unchanged()
            await stalling.shutdown()
        }
    }

    @Test("A machine in the middle raises one alarm, proposes nothing, and apps go on refusing it")
    func middle() async throws {
        try await run { world, shop, port, unchanged in
            let stranger = try world.root.impersonate(world.shown)
            let options = LoopbackTLSServer.Options(address: "127.0.0.3", port: port)
            let middle = try await LoopbackTLSServer.start(serving: stranger, options: options)
            // The name's answer has changed.
            let first = try await shop.look(resolvingTo: ["127.0.0.3"])
            #expect(first.findings.map(\.verdict) == [.unannounced] && first.alarms.count == 1, "\(first)")
            let second = try await shop.look(resolvingTo: ["127.0.0.3"])
            #expect(second.findings.map(\.verdict) == [.unannounced] && second.alarms == [], "\(second)")
            try await unchanged()
            let losses = try await world.publisher.standing(of: shop.app).losses
            #expect(losses.contains { $0.contains("127.0.0.3") }, "\(losses)")
            // An observation from one place is not proposed, even on request.
            await expectError(.gate) {
                try await world.catalog.draft(of: shop.app, Catalog.DraftOptions(includesSeen: true))
            }
            await middle.shutdown()
        }
    }

    @Test("A name with thousands of addresses is asked at 64 of them, and what is kept of a host stays bounded")
    func manyAddresses() async throws {
        try await World.run { world in
            // Nothing listens there.
            let shop = try await Shop([.list], on: 1, in: world)
            let addresses = (0..<3_000).map { "127.1.\($0 / 250).\($0 % 250 + 1)" }
            let report = try await shop.look(
                resolvingTo: addresses, within: ProbeDeadlines(whole: .seconds(60)))
            #expect((65...129).contains(report.findings.count) && report.alarms == [], "\(report.findings.count)")
            for batch in 0..<4 {
                let seen = addresses.dropFirst(batch * 700).prefix(700).map { address in
                    Observation(
                        vantage: "office", address: address, chain: nil, failure: "nothing", firstSeen: world.now,
                        lastSeen: world.now)
                }
                try await world.catalog.note([(host: shop.host, seen: seen)], from: "office", of: shop.app, by: "test")
            }
            let kept = try await world.engine.read { session throws(ServerError) in
                try session.run("SELECT address FROM observation WHERE vantage = 'office'", []).map {
                    row throws(ServerError) in
                    try row.text(0)
                }
            }
            #expect((1_900...Catalog.maximumObservations).contains(kept.count), "\(kept.count)")
            // The newest stay.
            #expect(Set(kept).isSuperset(of: addresses[2_100..<2_800]))
        }
    }
}
