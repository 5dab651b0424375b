import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Clients of what builds are made with", .timeLimit(.minutes(5)))
struct BuildClientTests {
    /// Answers with one text, whatever is asked for.
    private struct One: RemoteDataProvider {
        let text: String

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            RemoteDataResponse(.body(Data(text.utf8)))
        }
    }

    private static func base64(_ certificate: TestCertificate) throws -> String {
        Base64.encode(ServerFoundation.Digest(of: try certificate.subjectPublicKeyInfo).bytes)
    }

    /// A pin file with pins of servers' own keys, for an application if one is given.
    private static func pinFile(_ pins: [String], application: String? = nil) -> String {
        let list = pins.map { #"{"pin":"sha256/\#($0)"}"# }.joined(separator: ",")
        let app = application.map { #""app":"\#($0)","# } ?? ""
        return #"{"schema":1,\#(app)"hosts":[{"host":"\#(World.host)","pins":[\#(list)]}]}"#
    }

    private static func started(
        _ kind: DocumentClient.Kind, _ text: String, _ world: World
    ) async throws(ClientFailure) -> DocumentClient.Ready {
        guard let url = URL(string: "https://pins.example.com"),
            let scene = try? await world.catalog.scene(of: world.app)
        else { throw ClientFailure(isRefusal: false, "no world") }
        let build = ClientBuild(scene.keys, asking: url, One(text: text), at: world.now)
        return try await DocumentClient(kind: kind, name: "builds").started(build, dialing: [])
    }

    /// Why a build is not let in where a certificate is shown; nil if it is.
    private static func refusal(
        _ kind: DocumentClient.Kind, _ text: String, of certificate: TestCertificate, in world: World
    ) async throws -> String? {
        let host = try DialedHost(World.host)
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: host),
            validator: PathValidator(anchors: try TrustAnchors(der: [world.root.root])))
        let ready = try await started(kind, text, world)
        return ready.refusal(of: trust, dialing: host, at: world.clock.now)
    }

    private static func failure(
        _ kind: DocumentClient.Kind, _ text: String, in world: World
    ) async -> ClientFailure? {
        do throws(ClientFailure) {
            _ = try await started(kind, text, world)
            return nil
        } catch {
            return error
        }
    }

    @Test("A pin file that names another application, or none, is refused by the builds of the one that it is for")
    func application() async throws {
        try await World.run { world in
            let pins = [try Self.base64(world.shown), try Self.base64(world.announced)]
            let kind = DocumentClient.Kind.pinFile(path: "pins/bank.pins.json", application: "com.example.bank")
            let own = Self.pinFile(pins, application: "com.example.bank")
            #expect(try await Self.refusal(kind, own, of: world.shown, in: world) == nil)
            for name in ["com.example.shop", "bank", nil] {
                let failure = await Self.failure(kind, Self.pinFile(pins, application: name), in: world)
                #expect(failure?.isRefusal == true, "\(name as Any)")
                #expect(failure?.words.contains("the application com.example.bank") == true, "\(failure as Any)")
            }
        }
    }

    @Test("Apps that follow a repository take no pins of another application")
    func repository() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            let provider = SnapshotProvider(live: world.publisher.live, app: world.app, clock: world.clock)
            let build = ClientBuild(
                try await world.catalog.scene(of: world.app).keys,
                asking: try #require(URL(string: "https://pins.example.com")), provider, at: world.now)
            let (root, host) = (Array(try world.oldestRoot()), try DialedHost(World.host))
            let cases: [(application: String?, isRefused: Bool)] = [
                ("bank", false), (nil, false), ("com.example.shop", true),
            ]
            for (application, isRefused) in cases {
                let client = DocumentClient(
                    kind: .repository(folder: "repo/bank", root: root, application: application), name: "apps")
                var failure: ClientFailure?
                do throws(ClientFailure) {
                    _ = try await client.started(build, dialing: [host])
                } catch {
                    failure = error
                }
                #expect((failure?.isRefusal ?? false) == isRefused, "\(application as Any): \(failure as Any)")
                #expect((failure != nil) == isRefused)
            }
        }
    }
}
