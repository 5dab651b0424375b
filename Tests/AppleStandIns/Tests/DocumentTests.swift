import Foundation
import FoundationNetworking
import Holdfast
import HoldfastCompatibility
import HoldfastPowerAuth
import HoldfastTUF
import HoldfastTesting
import Network
import PowerAuth2
import Security
import Testing

/// The README's app, which takes its pins from a repository.
private struct PinnedAPI {
    private let session: URLSession

    init(bundleURL: URL, root: Data, bundle: Data) async throws {
        let floor = PinFloor(covering: [try HostPattern("api.example.com")])  // no document may drop these hosts
        var configuration = PinRepositoryConfiguration(source: .bundle(bundleURL), root: root, floor: floor)
        configuration.shipped = .init(bundle: bundle, grace: .seconds(2 * 365 * 86_400))
        let repository = try await PinRepository.load(configuration: configuration)
        let manager = TrustManager(policies: [try repository.policy(for: "api.example.com")])
        let session = URLSession(pinnedBy: manager)
        self.session = session
    }

    /// The delegate that the session asks about servers.
    var delegate: PinnedSessionDelegate? { session.delegate as? PinnedSessionDelegate }

    func data(from url: URL) async throws -> Data {
        do {
            return try await session.data(from: url).0
        } catch let error as URLError where error.code == .cancelled {
            throw delegate?.failure(forHost: "api.example.com") ?? error
        }
    }
}

private nonisolated struct PairedPolicy: TrustPolicy {
    let scope = PolicyScope(hostName: "www.example.com")
    let isPaired: @Sendable (ServerTrust) -> Bool

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        func decision(_ verdict: TrustDecision.Verdict) -> TrustDecision {
            TrustDecision(verdict, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
        do throws(TrustFailure) {
            _ = try scope.host(of: trust)  // throws if the policy is not for this host
            guard isPaired(trust) else {
                throw TrustFailure(.customValidationRejected, expected: "a paired device", found: "another")
            }
            return decision(.trusted)
        } catch {
            return decision(.rejected(error))
        }
    }
}

private final class TransferDelegate: PinnedSessionDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        moveIntoPlace(location)
    }
}

private nonisolated func moveIntoPlace(_ file: URL) {}

extension URLSessionConfiguration {
    /// A stand-in: only Apple's systems have background sessions.
    fileprivate static func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }
}

/// The examples of docs/apps.md and docs/migrating, line by line: they compile because they stand here, and stand in
/// the documents because a test compares. The README's example for an app is above.
private enum DocumentExamples {
    static func session(keyInUse: String, keyKeptOffline: String) throws -> URLSession {
        let pins = try PinSet(pins: [Pin(keyInUse)], backups: [Pin(keyKeptOffline)])
        let manager = TrustManager(policies: [try PinnedPolicy(host: HostPattern("**.example.com"), pins: pins)])
        let session = URLSession(pinnedBy: manager)
        return session
    }

    static func shipped(_ pinFile: URL) throws -> URLSession {
        let manager = try TrustManager(pinFile: pinFile)  // throws an error that names the invalid field and the fix
        let session = URLSession(pinnedBy: manager)
        return session
    }

    static func reason(_ manager: TrustManager, _ url: URL, log: (String) -> Void) async throws {
        let delegate = PinnedSessionDelegate(manager: manager)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        do {
            _ = try await session.data(from: url)
        } catch let error as URLError where error.code == .cancelled {
            log(delegate.failure(forHost: "api.example.com")?.description ?? "canceled by the application")
        }
    }

    static func answer(
        _ challenge: URLAuthenticationChallenge, by delegate: PinnedSessionDelegate
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await delegate.response(to: challenge)
    }

    static func background(_ manager: TrustManager, _ identifier: String) -> URLSession {
        let delegate = TransferDelegate(manager: manager)
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        return session
    }

    static func shared(_ configuration: CertStoreConfiguration) -> CertStore {
        let data = KeychainDataStore(accessGroup: "TEAMID.com.example.shared")
        let store = CertStore(configuration: configuration, secureDataStore: data)
        return store
    }

    static func refresh(_ given: URLSession) -> URLSession {
        var session = given
        session = session.refreshed()
        return session
    }

    static func webSocket(_ manager: TrustManager, _ url: URL) -> URLSessionWebSocketTask {
        let session = URLSession(pinnedBy: manager)
        let socket = session.webSocketTask(with: url)
        socket.resume()
        return socket
    }

    static func validator(
        _ manager: TrustManager, _ host: DialedHost
    ) -> @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool {
        let validator = manager.certificateValidator(dialing: host)
        return validator
    }

    static func network(_ manager: TrustManager) throws -> NWParameters {
        let host = try DialedHost("api.example.com", port: 443)
        let options = NWProtocolTLS.Options(pinnedBy: manager, dialing: host)
        let parameters = NWParameters(tls: options)
        return parameters
    }

    static func keychain(_ manager: TrustManager, _ configuration: CertStoreConfiguration) throws {
        let store = CertStore(configuration: configuration, secureDataStore: KeychainDataStore())
        manager.add(policy: try store.policy(for: "www.example.com"))
    }

    static func newer() {
        let settings = ValidationSettings.defaultSettings
        settings.certificateBundle = Bundle.main
        let policy = TrustManager.shared.create(type: .pinPublicKey, hostName: "www.example.com", settings: settings)
        TrustManager.shared.add(policy: policy)
    }

    @available(*, deprecated, message: "as published")
    static func older(_ trust: SecTrust) -> Bool? {
        let composer = ComposePolicy(withValidation: .pinPublicKey, forHost: "https://www.example.com")
        TrustManager.sharedInstance.add(policy: composer.create())
        let isTrusted = TrustManager.sharedInstance.policy(forHost: "www.example.com")?.validate(with: trust)
        return isTrusted
    }

    static func new(
        _ manager: TrustManager, _ trust: SecTrust, host: DialedHost, keyInUse: String, keyKeptOffline: String,
        log: (String) -> Void
    ) throws {
        let pins = try PinSet(pins: [Pin(keyInUse)], backups: [Pin(keyKeptOffline)])
        manager.add(policy: try PinnedPolicy(host: HostPattern("www.example.com"), pins: pins))
        let decision = manager.evaluate(ServerTrust(trust, host: host))
        if let failure = decision.failure { log(failure.description) }
    }

    static func revocation(_ manager: TrustManager) -> PinnedSessionDelegate {
        let delegate = PinnedSessionDelegate(manager: manager, revocation: .required)
        return delegate
    }

    static func wultra(
        _ url: URL, _ publicKey: String, _ challenge: URLAuthenticationChallenge, _ manager: TrustManager,
        completionHandler: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) async throws {
        let configuration = CertStoreConfiguration(serviceUrl: url, publicKey: publicKey, useChallenge: true)
        let store = CertStore.powerAuthCertStore(configuration: configuration)
        switch store.validate(challenge: challenge) {
        case .trusted: completionHandler(.performDefaultHandling, nil)
        case .untrusted, .empty: completionHandler(.cancelAuthenticationChallenge, nil)
        }
        manager.add(policy: try store.policy(for: "www.example.com"))
        try await store.update()
    }

    static func online(_ manager: TrustManager, signerCertificate: String) throws {
        let composer = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: "api.example.com")
        composer.trustServer = URL(string: "https://pins.example.com/gcx.json.signed")
        composer.trustServerCertificate = Data(base64Encoded: signerCertificate)
        composer.customer = "gcx"
        manager.add(policy: try composer.makePolicy())
    }

    static func custom(_ manager: TrustManager, isPaired: @escaping @Sendable (ServerTrust?) -> Bool) throws {
        manager.add(policy: CustomPolicy(host: try HostPattern("www.example.com")) { trust in isPaired(trust) })
    }

    static func handle(
        _ challenge: URLAuthenticationChallenge, of session: URLSession, by pinned: PinnedSessionDelegate,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        pinned.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    static func isp(_ trust: SecTrust, _ certificate: Data, _ domain: String) throws -> [Any] {
        ISPCertificatePinning.setupSSLPins(usingDictionnary: [domain: [certificate]])
        let isPinned = ISPCertificatePinning.verifyPinnedCertificate(forTrust: trust, andDomain: domain)
        let delegate = ISPPinnedNSURLSessionDelegate()
        let policy = try PinnedPolicy(host: HostPattern(domain), pinning: .certificate, of: .data([certificate]))
        return [isPinned, delegate, policy]
    }

    static func trustKit(_ manager: TrustManager, expiry: Date) throws -> URLSession {
        let pins = try PinSet(
            pins: [Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")],
            backups: [Pin("sha256/S5z3Fz5ZfZAGJOBZjK6TYBquyLLKO+BndKXBlL3nPjo=")],
            until: expiry, afterExpiry: .standardValidation)
        manager.add(policy: try PinnedPolicy(host: HostPattern("**.example.com"), pins: pins))
        manager.unknownHosts = .standardValidation
        let session = URLSession(pinnedBy: manager)
        return session
    }

    static func alamofire() throws -> TrustManager {
        let manager = TrustManager(policies: [
            try PinnedPolicy(
                host: HostPattern("api.example.com"), pinning: .publicKey,
                of: .bundle(.main, endings: ["cer", "crt", "der"])),
            StandardPolicy(host: try HostPattern("cdn.example.net")),
        ])
        return manager
    }

    struct Evaluator {
        let manager: TrustManager

        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            let decision = manager.evaluate(ServerTrust(trust, host: try DialedHost(host)))
            if let failure = decision.failure { throw failure }
        }
    }
}

@Suite("The documents for Apple's platforms")
struct DocumentTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test(
        "Every line of their examples stands in code that compiles",
        arguments: [
            ("docs/apps.md", ["```swift\n", "```objc\n"]),
            ("docs/migrating/gcxtrustpolicy.md", ["```swift\n"]),
            ("docs/migrating/wultrasslpinning.md", ["```swift\n"]),
            ("docs/migrating/ispcertificatepinning.md", ["```swift\n", "```objc\n"]),
            ("docs/migrating/trustkit.md", ["```swift\n"]), ("docs/migrating/alamofire.md", ["```swift\n"]),
            ("README.md", ["```swift apple\n"]),
        ])
    func everyLineCompiles(_ name: String, fences: [String]) throws {
        let usage = Self.folder.appending(path: "../Interop/Usage").standardizedFileURL
        let sources = try FileManager.default.contentsOfDirectory(at: usage, includingPropertiesForKeys: nil)
        let compiled = Set(
            try ([URL(fileURLWithPath: #filePath)] + sources).flatMap { file in
                try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(Self.code)
            })
        let document = try String(
            contentsOf: Self.folder.appending(path: "../../../\(name)").standardizedFileURL, encoding: .utf8)
        var lines: [String] = []
        for fence in fences {
            for block in document.components(separatedBy: fence).dropFirst() {
                lines += block.components(separatedBy: "```")[0].split(separator: "\n").map(Self.code)
            }
        }
        #expect(lines.count > 7)
        for line in lines { #expect(compiled.contains(line), "not compiled: \(line)") }
    }

    @Test("Every declaration in an example of a comment compiles in an app that is isolated to the main actor")
    func everyDeclarationCompiles() throws {
        func lines(in file: URL) throws -> [String] {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        let samples = Self.folder.appending(path: "../MainActor/CommentSamples.swift").standardizedFileURL
        let compiled = Set(try lines(in: samples))
        let sources = Self.folder.appending(path: "../../../Sources/Holdfast").standardizedFileURL
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let comments = try lines(in: file).filter { $0.hasPrefix("///") }.map {
                $0.dropFirst(3).trimmingCharacters(in: .whitespaces)
            }
            for block in comments.split(separator: "```swift").dropFirst() {
                let example = block.prefix { $0 != "```" }
                guard example.contains(where: { $0.contains(#/\b(struct|class|enum|actor|extension|func) /#) }) else {
                    continue
                }
                count += 1
                for line in example where !line.isEmpty && line != "…" {
                    #expect(compiled.contains(line), "\(file.lastPathComponent): \(line)")
                }
            }
        }
        #expect(count >= 5)
    }

    /// Examples stand there as static members of an enumeration, or as private types.
    private static func code(_ line: some StringProtocol) -> String {
        let code = line.trimmingCharacters(in: .whitespaces)
        let prefix = ["static ", "private "].first { code.hasPrefix($0) } ?? ""
        return String(code.dropFirst(prefix.count))
    }

    @Test("The example of an evaluator throws the failure")
    func evaluator() throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        let evaluator = DocumentExamples.Evaluator(manager: fixture.manager)
        try evaluator.evaluate(fixture.secTrust(), forHost: fixture.host)
        #expect(throws: TrustFailure.self) {
            try evaluator.evaluate(fixture.secTrust(systemAnchors: []), forHost: fixture.host)
        }
    }

    @Test("The example of a policy of one's own keeps what a policy promises, and decides by its closure")
    func ownPolicy() async throws {
        let clock = ManualClock(now: SystemWallClock().now)
        let chain = try TestAuthority.selfSigned(names: [.dns("www.example.com")], clock: clock).chain
        let trust = ServerTrust(
            certificates: chain, host: try DialedHost("www.example.com"), anchors: try TrustAnchors(der: chain))
        let policy = PairedPolicy { !$0.chain.certificates.isEmpty }
        try await TrustPolicyConformance.check(policy, accepting: trust, at: clock.now)
        let stranger = PairedPolicy { _ in false }.evaluate(trust, at: clock.now)
        #expect(stranger.failure?.code == .customValidationRejected)
    }

    @Test(
        "The README's app loads from servers with its pinned keys, and throws the reason where another one answers",
        // One server at a time is shown to the protocol.
        .serialized, arguments: [0, 15, 60, 400, 800] as [Double])
    func readme(daysSinceBuild: Double) async throws {
        let fixture = try AppleFixture()
        let names = [TestGeneralName.dns(JudgedLoading.host)]
        let leaves = try (0..<3).map { _ in try fixture.issuing.leaf(names: names) }
        let pins = try leaves.map { try fixture.keyPin($0) }
        // The app was built then, and is opened for the first time today.
        let built = Date().addingTimeInterval(-daysSinceBuild * 86_400)
        let pinFile = """
            {"schema": 1, "issuedAt": "\(built.formatted(.iso8601))",
             "notAfter": "\(built.addingTimeInterval(90 * 86_400).formatted(.iso8601))", "refresh": {"after": 21600},
             "hosts": [{"host": "\(JudgedLoading.host)", "pins": [
               {"pin": "\(pins[0])"}, {"pin": "\(pins[1])", "state": "backup"}]}]}
            """
        var repository = try TestRepository(start: built)
        repository.addTarget("pins.json", Data(pinFile.utf8))
        try repository.publishAll()
        // Nothing newer is found there: the app decides by what it shipped with.
        let bundleURL = try #require(URL(string: "https://\(UUID().uuidString.lowercased()).invalid/bundle.json"))
        let root = try #require(repository.served("1.root.json"))
        let api = try await PinnedAPI(bundleURL: bundleURL, root: root, bundle: RepositoryBundle(repository).json)
        let url = try #require(URL(string: "\(JudgedLoading.scheme)://\(JudgedLoading.host)/"))
        let judge = try #require(api.delegate)
        func show(_ leaf: TestCertificate) {
            JudgedLoading.show(.init(chain: leaf.chain, root: fixture.root.root, judge: judge))
        }
        for leaf in leaves.prefix(2) {
            show(leaf)
            #expect(try await api.data(from: url) == JudgedLoading.body)
        }
        show(leaves[2])
        let failure = await #expect(throws: TrustFailure.self) { try await api.data(from: url) }
        #expect(failure?.code == .pinMismatch && failure?.pins.count == 2)
    }
}
