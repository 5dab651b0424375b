import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

func makeClient(pinFile: URL, anchors: TrustAnchors) throws -> PinnedHTTPClient {
    let manager = try TrustManager(pinFile: pinFile)
    let validator = PathValidator(anchors: anchors, cache: VerifiedPathCache())
    return try PinnedHTTPClient(manager: manager, validator: validator)
}

/// The examples of the README and of the documents that it leads to, line by line: they compile because they stand here,
/// and stand in the documents because a test compares.
enum ReadmeExamples {
    static func service() async throws -> HTTPClientResponse {
        let client = try makeClient(pinFile: URL(filePath: "app.pins.json"), anchors: try await .system())
        let request = HTTPClientRequest(url: "https://api.example.com/")
        let response = try await client.execute(request, timeout: .seconds(30))
        try await client.shutdown()
        return response
    }

    static func app(
        keyInUse: String, keyKeptOffline: String, chain: [[UInt8]], anchors: TrustAnchors, log: (String) -> Void
    ) throws -> TrustDecision {
        let pins = try PinSet(pins: [Pin(keyInUse)], backups: [Pin(keyKeptOffline)])
        let manager = TrustManager(policies: [
            try PinnedPolicy(host: HostPattern("**.example.com"), pins: pins),
            StandardPolicy(host: try HostPattern("cdn.example.net")),
        ])
        let host = try DialedHost("api.example.com")
        let decision = manager.evaluate(ServerTrust(certificates: chain, host: host, anchors: anchors))
        if let failure = decision.failure { log(failure.description) }
        return decision
    }

    static func pinFile(_ url: URL) throws -> TrustManager {
        let shipped = try TrustManager(pinFile: url)
        return shipped
    }

    static func client(_ manager: TrustManager) async throws {
        let host = try DialedHost("api.example.com", port: 443)
        let validator = PathValidator(anchors: try await TrustAnchors.system(), cache: VerifiedPathCache())
        let client = try PinnedTLSClient(trust: .manager(manager), host: host, validator: validator)
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let connection = try await bootstrap.connect(to: client) { channel in
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
        try await connection.channel.close()
    }

    static func privateAuthority() async throws -> [TrustAnchors] {
        let anchors = try TrustAnchors(contentsOf: URL(filePath: "/etc/service/authority.pem"))
        let both = TrustAnchors(try await TrustAnchors.system().certificates + anchors.certificates)
        return [anchors, both]
    }

    static func server(
        pins: PinSet, configuration: TLSConfiguration, validator: PathValidator, group: any EventLoopGroup
    ) throws -> ServerBootstrap {
        let policy = try PinnedPolicy(clients: "devices", pins: pins)
        let server = try PinnedTLSServer(clients: policy, configuration: configuration, validator: validator)
        let bootstrap = ServerBootstrap(group: group).childChannelInitializer { channel in
            server.configure(channel) { channel, client in
                try channel.pipeline.syncOperations.addHandler(Application(client.leaf))
            }
        }
        return bootstrap
    }

    static func signing(certificate: [UInt8], until end: Date, published: Data, key: SigningKey) throws -> Data {
        let entry = try FingerprintEntry(name: "api.example.com", pin: Pin.certificate(certificate), until: end)
        var list = try PinListDraft(reading: published, signedBy: key.publicKey)
        list.add(entry)
        let document = try list.signed(by: key)
        return document
    }

    static func online(_ manager: TrustManager, url: URL, signerCertificate: Data) async throws {
        let signer = try TrustServerSigner(certificate: signerCertificate)
        let configuration = TrustServerConfiguration(url: url, signer: signer, customer: "gcx")
        let store = try await TrustServerStore.load(configuration: configuration)
        manager.add(policy: try store.policy(for: "api.example.com"))
    }

    static func repository(
        _ manager: TrustManager, url: URL, root: Data, bundleOfThisBuild: Data
    ) async throws {
        let floor = PinFloor(covering: [try HostPattern("api.example.com")])
        var configuration = PinRepositoryConfiguration(source: .bundle(url), root: root, floor: floor)
        configuration.shipped = .init(bundle: bundleOfThisBuild, grace: .seconds(2 * 365 * 86_400))
        let repository = try await PinRepository.load(configuration: configuration)
        manager.add(policy: try repository.policy(for: "api.example.com"))
    }

    private final class Application: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let client: X509Certificate

        init(_ client: X509Certificate) {
            self.client = client
        }
    }
}

@Suite("The README and the documents that it leads to", .timeLimit(.minutes(15)))
struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test(
        "Every line of its Swift examples stands in code that compiles",
        arguments: ["README.md", "docs/services.md"])
    func everyLineStandsInCodeThatCompiles(_ document: String) throws {
        let text = try String(
            contentsOf: Self.folder.appending(path: "../../../\(document)").standardizedFileURL, encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let compiled = Set(source.split(separator: "\n").map(Self.code))
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(!blocks.isEmpty)
        for line in blocks.flatMap({ $0.split(separator: "\n") }) {
            #expect(compiled.contains(Self.code(line)), "not compiled: \(line)")
        }
    }

    /// A line without its indentation and the comment behind it.
    private static func code(_ line: some StringProtocol) -> String {
        let code = line.components(separatedBy: "  // ").first ?? ""
        return code.trimmingCharacters(in: .whitespaces)
    }

    @Test("Its example for a signer adds an entry to a list, which clients verify")
    func signingExample() throws {
        let key = SigningKey()
        let published = try PinListDraft([
            FingerprintEntry(name: "www.example.com", pin: Pin.certificate([1]), expires: 1)
        ]).signed(by: key)
        let document = try ReadmeExamples.signing(
            certificate: [2], until: Date(timeIntervalSince1970: 3), published: published, key: key)
        let list = try FingerprintList(verifying: document, with: key.publicKey)
        #expect(list.entries.map(\.name) == ["api.example.com", "www.example.com"])
    }

    @Test("Its example for a service trusts the pinned server and sends another one nothing")
    func serviceExample() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["localhost"])
        let pins = try [Pin.publicKey(of: leaf.der), .publicKey(spkiDER: TestKey().subjectPublicKeyInfoDER)]
        let file = """
            {"schema": 1, "hosts": [{"host": "localhost", "pins": [
              {"pin": "\(pins[0])"}, {"pin": "\(pins[1])", "state": "backup"}
            ]}]}
            """
        try await withTemporaryFolder { folder in
            let pinFile = folder.appending(path: "app.pins.json")
            try Data(file.utf8).write(to: pinFile)
            let options = LoopbackTLSServer.Options(behavior: .http(body: "pinned"))
            for (certificate, isTrusted) in [(leaf, true), (try root.impersonate(leaf), false)] {
                try await withLoopbackTLSServer(serving: certificate, options: options) { server in
                    let client = try makeClient(pinFile: pinFile, anchors: TrustAnchors(der: [root.root]))
                    let request = HTTPClientRequest(url: "https://localhost:\(server.port)/")
                    if isTrusted {
                        let response = try await client.execute(request, timeout: .seconds(60))
                        #expect(String(buffer: try await response.body.collect(upTo: 64)) == "pinned")
                    } else {
                        let failure = await #expect(throws: TrustFailure.self) {
                            try await client.execute(request, timeout: .seconds(60))
                        }
                        #expect(failure?.code == .pinMismatch)
                        #expect(server.statistics.plaintextBytesReceived == 0)
                    }
                    try await client.shutdown()
                }
            }
        }
    }

    @Test("The example of pins in code trusts the pinned server and explains a refusal")
    func appExample() throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["api.example.com"])
        let anchors = try TrustAnchors(der: [root.root])
        let pin = try Pin.publicKey(of: leaf.der).description
        let backup = try Pin.publicKey(spkiDER: TestKey().subjectPublicKeyInfoDER).description
        let trusted = try ReadmeExamples.app(
            keyInUse: pin, keyKeptOffline: backup, chain: leaf.chain, anchors: anchors
        ) { _ in }
        #expect(trusted.isTrusted)
        var log = ""
        let refused = try ReadmeExamples.app(
            keyInUse: pin, keyKeptOffline: backup, chain: root.impersonate(leaf).chain, anchors: anchors
        ) { log += $0 }
        #expect(refused.failure?.code == .pinMismatch)
        #expect(log.contains(pin))
    }
}
