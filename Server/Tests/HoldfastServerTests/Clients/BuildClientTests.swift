import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer

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
        Base64.encode(HoldfastServer.Digest(of: try certificate.subjectPublicKeyInfo).octets)
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

    private static let sources: [(source: PinImport.Source, format: ExportFormat)] = [
        (.android, .android), (.ats, .ats), (.trustkit, .trustkit),
    ]

    @Test("What a file of another system says decides: it lets in whom it pins, and refuses everybody else")
    func otherSystems() async throws {
        try await World.run { world in
            let (pinned, stranger) = (world.shown, try world.root.leaf(names: [.dns(World.host)]))
            let pins = [try Self.base64(pinned), try Self.base64(world.announced)]
            let file = try PinFile(json: Data(Self.pinFile(pins).utf8))
            for (source, format) in Self.sources {
                let kind = DocumentClient.Kind.configuration(path: "pins/bank", of: source)
                let text = try PinExport(file, as: format).text()
                #expect(try await Self.refusal(kind, text, of: pinned, in: world) == nil, "\(format)")
                let refusal = try await Self.refusal(kind, text, of: stranger, in: world)
                #expect(refusal?.hasPrefix("pinMismatch: ") == true, "\(format): \(refusal as Any)")
                let other = try PinExport(
                    PinFile(json: Data(Self.pinFile(pins).replacing(World.host, with: "other.example.com").utf8)),
                    as: format
                ).text()
                let missing = try await Self.refusal(kind, other, of: pinned, in: world)
                #expect(missing == "it has no pins for the host", "\(format): \(missing as Any)")
                for damaged in ["", "<", "{}", text.replacing("</", with: "<")] {
                    let failure = await Self.failure(kind, damaged, in: world)
                    #expect(failure?.isRefusal == true, "\(format): \(failure as Any)")
                }
            }
        }
    }

    @Test("Apple asks for an identity of each list, so that a wrong one above the server locks out")
    func bothLists() async throws {
        try await World.run { world in
            let kind = DocumentClient.Kind.configuration(path: "pins/bank.plist", of: .ats)
            func list(_ leaf: String, _ authority: String) -> String {
                func identities(_ pin: String) -> String {
                    "<array><dict><key>SPKI-SHA256-BASE64</key><string>\(pin)</string></dict></array>"
                }
                return """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <plist version="1.0"><dict><key>NSPinnedDomains</key><dict><key>\(World.host)</key><dict>
                    <key>NSPinnedLeafIdentities</key>\(identities(leaf))
                    <key>NSPinnedCAIdentities</key>\(identities(authority))
                    </dict></dict></dict></plist>
                    """
            }
            let (own, other) = (try Self.base64(world.shown), try Self.base64(world.announced))
            let above = try Self.base64(world.root.certificate)
            #expect(try await Self.refusal(kind, list(own, above), of: world.shown, in: world) == nil)
            for text in [list(own, other), list(other, above)] {
                #expect(try await Self.refusal(kind, text, of: world.shown, in: world) != nil)
            }
        }
    }

    @Test("A file that says what nobody can judge here lets no canary pass, and is no refusal either")
    func beyond() async throws {
        try await World.run { world in
            let (own, spare) = (try Self.base64(world.shown), try Self.base64(world.announced))
            let android = """
                <network-security-config><domain-config><domain>\(World.host)</domain>
                <pin-set><pin digest="SHA-256">\(own)</pin><pin digest="SHA-256">\(spare)</pin></pin-set>
                <trust-anchors><certificates src="user" overridePins="true"/></trust-anchors>
                </domain-config></network-security-config>
                """
            let failure = await Self.failure(
                .configuration(path: "pins/bank.xml", of: .android), android, in: world)
            #expect(failure?.isRefusal == false, "\(failure as Any)")
            #expect(failure?.words.contains("nobody here can judge") == true, "\(failure as Any)")
        }
    }

    @Test("TrustKit stops an app that has one pin for a host, so a file with one is refused")
    func onePin() async throws {
        try await World.run { world in
            let file = try PinFile(json: Data(Self.pinFile([try Self.base64(world.shown)]).utf8))
            for (source, format) in Self.sources {
                let failure = await Self.failure(
                    .configuration(path: "pins/bank", of: source), try PinExport(file, as: format).text(), in: world)
                #expect((failure != nil) == (format == .trustkit), "\(format): \(failure as Any)")
                #expect(failure?.isRefusal ?? true)
            }
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

    @Test("Code is judged by the pin file from which it is made")
    func code() async throws {
        try await World.run { world in
            let pins = [try Self.base64(world.shown), try Self.base64(world.announced)]
            let kind = DocumentClient.Kind.code(path: "pins/bank.okhttp.kt", pins: Array(Self.pinFile(pins).utf8))
            #expect(try await Self.refusal(kind, "// Kotlin", of: world.shown, in: world) == nil)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await Self.refusal(kind, "// Kotlin", of: stranger, in: world) != nil)
        }
    }
}
