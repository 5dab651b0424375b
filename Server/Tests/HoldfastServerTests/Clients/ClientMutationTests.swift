import Foundation
import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Damaged documents, challenge answers and headers, for clients of the canary and those that read back publications,
/// at public addresses and at the server's own. A stranger gets in with none of them.
@Suite("What the server's own clients are answered, damaged", .timeLimit(.minutes(60)))
struct ClientMutationTests {
    /// A world that has published, and a machine in the middle.
    private struct Stage {
        let world: World
        let keys: SealedKeys
        let stranger: ServerTrust
        let known: ServerTrust
        let host: DialedHost
        let base: URL

        init(_ world: World) async throws {
            self.world = world
            keys = try await world.catalog.scene(of: world.app).keys
            host = try DialedHost(World.host)
            base = try #require(URL(string: "https://pins.example.com"))
            let validator = PathValidator(anchors: try TrustAnchors(der: [world.root.root]))
            func trust(_ certificate: TestCertificate, _ host: DialedHost) -> ServerTrust {
                ServerTrust(
                    chain: PresentedChain(certificate.chain), purpose: .server(identity: host), validator: validator)
            }
            stranger = trust(try world.root.leaf(names: [.dns(World.host)]), host)
            known = trust(world.shown, host)
        }

        /// Starts a client, which is answered what a stub says.
        /// - Returns: whether it lets in what is published; never a stranger.
        func letsIn(_ client: DocumentClient, _ stub: AnswerStub, _ policies: inout Int) async throws -> Bool {
            let build = ClientBuild(keys, asking: base, stub, at: world.now)
            let ready: DocumentClient.Ready
            do throws(ClientFailure) {
                ready = try await client.started(build, dialing: [host])
            } catch {
                #expect(error.words.utf8.count <= 2_000)
                throw ServerError(.gate, expected: "a document", found: "another")
            }
            // A damaged document may not mention the host, and then lets in no certificate.
            let found = (try? ready.policies(host)) ?? []
            policies += found.count
            #expect(found.allSatisfy { $0.evaluate(stranger, at: world.clock.now).failure != nil })
            return ready.refusal(of: known, dialing: host, at: world.clock.now) == nil
        }
    }

    @Test("A damaged document is refused by its clients, or says less: it lets in nobody who was not let in")
    func documents() async throws {
        try await World.run { world in
            try await world.publish()
            let stage = try await Stage(world)
            let content = try #require(try await world.catalog.scene(of: world.app).published)
            let clients = DocumentClient.all(of: content, for: .everybody).filter { $0.path != nil }
            #expect(clients.count == 3)
            for (index, client) in clients.enumerated() {
                let path = try #require(client.path)
                let good = try #require(world.publisher.live.current.document(at: path.utf8)).bytes
                let (count, seed) = (mutants(inPartsOf: 20), 0xC1E0 + UInt64(index))
                var policies = 0
                let stub = AnswerStub { _ in AnswerStub.Answer() }
                let read = await campaign(awaiting: seed, [good], count: count) { mutant in
                    stub.say(mutant, at: path)
                    // A document that does not verify is not asked for until it does.
                    defer { #expect(stub.asked() <= 2) }
                    let isIn = try await stage.letsIn(client, stub, &policies)
                    #expect(mutant != good || isIn)
                }
                #expect(read < count, "\(path)")
            }
        }
    }

    @Test("A damaged answer to a challenge, or a damaged signature of it, is refused")
    func challenges() async throws {
        try await World.run { world in
            try await world.publish()
            let stage = try await Stage(world)
            let client = DocumentClient(kind: .challenge(app: "\(world.app)"), name: "apps with challenge answers")
            let server = SnapshotProvider(live: world.publisher.live, app: world.app, clock: world.clock)
            let count = mutants(inPartsOf: 20)
            var taken = 0
            // An answer depends on its challenge, which is new each time: this says how it is damaged.
            let read = await campaign(awaiting: 0xC4A7, [Array("body".utf8), Array("signature".utf8)], count: count) {
                let damage = Digest(of: $0).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                let provider = Damaging(server: server, damage: damage)
                let build = ClientBuild(stage.keys, asking: stage.base, provider, at: world.now)
                do throws(ClientFailure) {
                    let ready = try await client.started(build, dialing: [stage.host])
                    // It takes exactly the bytes that were signed.
                    #expect(provider.sent.isSameBody)
                    #expect(ready.refusal(of: stage.known, dialing: stage.host, at: world.clock.now) == nil)
                    #expect(ready.refusal(of: stage.stranger, dialing: stage.host, at: world.clock.now) != nil)
                    taken += 1
                } catch {
                    #expect(!provider.sent.isWhole && error.words.utf8.count <= 2_000, "\(error)")
                    throw ServerError(.gate, expected: "an answer", found: "another")
                }
            }
            #expect(read == taken && taken > 0 && taken < count)
        }
    }
}

/// A server whose answers an attacker changes in transit: the body, the signature, or nothing.
private final class Damaging: RemoteDataProvider {
    private static let header = "X-Cert-Pinning-Signature"

    private let server: SnapshotProvider
    private let damage: UInt64
    private let isSame = Mutex((isSameBody: true, isWhole: true))

    init(server: SnapshotProvider, damage: UInt64) {
        self.server = server
        self.damage = damage
    }

    /// Whether the body, and everything, arrived as it was sent.
    var sent: (isSameBody: Bool, isWhole: Bool) { isSame.withLock { $0 } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let answer = try await server.data(for: request)
        guard case .body(let sent) = answer.content else { return answer }
        var generator = SeededGenerator(seed: damage)
        let signature = answer.header(Self.header).map { Array($0.utf8) } ?? []
        let part = damage % 8
        let body = part < 4 ? mutated(Array(sent), &generator) : Array(sent)
        let header = (4...6).contains(part) ? mutated(signature, &generator) : signature
        let same = (isSameBody: body.elementsEqual(sent), isWhole: body.elementsEqual(sent) && header == signature)
        isSame.withLock { $0 = same }
        return RemoteDataResponse(
            .body(Data(body)), headers: [Self.header: String(decoding: header, as: UTF8.self)])
    }
}
