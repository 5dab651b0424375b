import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastPublishing
import HoldfastServer
import HoldfastTUF
import HoldfastTesting

/// Real clients of every format, as apps have them: the code that apps run, which downloads from the listener and
/// completes TLS handshakes with the host. What is exported for other systems is read as these read it, and curl has no
/// code in common with any of them.
struct DemoClients: Sendable {
    private let policies: [(name: String, policy: any TrustPolicy)]
    private let curl: DemoCurl?
    private let stage: DemoStage

    /// Their names.
    var names: [String] { policies.map { $0.name } + (curl == nil ? [] : ["curl"]) }

    /// What apps are built with.
    struct Trust: Sendable {
        /// The key of lists and challenge answers.
        let publicKey: String
        /// The certificate of the trust server.
        let trustServer: [UInt8]
        /// The first root of the repository.
        let root: Data
    }

    /// Starts with nothing, and downloads.
    init(of stage: DemoStage, at address: String, trusting trust: Trust) async throws {
        self.stage = stage
        let provider = DocumentDownloader(
            trusting: TrustAnchors([]), within: .seconds(60), allowsPlainHTTPToLoopback: true)
        func url(_ path: String) throws -> URL {
            guard let url = URL(string: "http://\(address)/\(path)") else { throw RemoteDataError(status: 400) }
            return url
        }
        var policies: [(name: String, policy: any TrustPolicy)] = []
        for (name, path, challenges) in [
            ("list", "lists/bank.json", false), ("challenge", "app/init?appName=bank", true),
        ] {
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: try url(path), publicKey: trust.publicKey, useChallenge: challenges),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: provider, logger: DemoStage.silent)
            if let error = try await store.update(mode: .forced).error { throw error }
            policies.append((name, try store.policy(for: DemoStage.host)))
        }
        var configuration = TrustServerConfiguration(
            url: try url("trust/\(DemoStage.customer).json.signed"),
            signer: try TrustServerSigner(certificate: Data(trust.trustServer)), customer: DemoStage.customer)
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = provider
        let store = try TrustServerStore(checking: configuration, logger: DemoStage.silent)
        if let error = try await store.update(mode: .forced).error { throw error }
        for (name, subject) in [
            ("trust-server certificates", Pin.Subject.certificate), ("trust-server keys", .publicKey),
        ] {
            policies.append((name, try store.policy(for: DemoStage.host, pinning: subject)))
        }
        var repository = PinRepositoryConfiguration(
            source: .bundle(try url("repo/bank/bundle.json")), root: trust.root,
            floor: PinFloor(covering: [try HostPattern(DemoStage.host)]))
        repository.allowsPlainHTTP = true
        repository.remoteDataProvider = provider
        repository.secureDataStore = InMemoryDataStore()
        let pins = try PinRepository(checking: repository, logger: DemoStage.silent)
        if let error = try await pins.update(mode: .forced).error { throw error }
        policies.append(("repository", try pins.policy(for: DemoStage.host)))
        func download(_ path: String) async throws -> Data {
            let request = RemoteDataRequest(url: try url(path))
            guard case .body(let body) = try await provider.data(for: request).content else {
                throw RemoteDataError(status: 500)
            }
            return body
        }
        let pinFile = try await download("pins/bank.pins.json")
        for policy in try PinFile(json: pinFile).policies() { policies.append(("pin file", policy)) }
        for (name, path, source) in [
            ("Android's configuration", "bank.xml", PinImport.Source.android),
            ("App Transport Security", "bank.plist", .ats),
            ("TrustKit's configuration", "bank.trustkit.plist", .trustkit),
        ] {
            let file = try PinImport(try await download("pins/\(path)"), from: source, role: .both).file()
            for policy in file.policies() { policies.append((name, policy)) }
        }
        self.policies = policies
        curl = try DemoCurl(of: stage, roots: try stage.roots, pinFile: pinFile)
        if curl == nil { Terminal.line("         curl is not installed, and follows nothing") }
    }

    /// The names of those that complete a handshake with the host as it is now.
    func thatGetIn() async throws -> [String] {
        let anchors = try TrustAnchors(der: [stage.authority.root])
        let host = try DialedHost(DemoStage.host, port: stage.tls.port)
        var names: [String] = []
        for (name, policy) in policies {
            var probe = HostProbe(validator: PathValidator(anchors: anchors))
            probe.connectTo = try DialedHost(stage.tls.address, port: stage.tls.port)
            probe.connectionsPerAddress = 1
            let shown = await probe.ask(host, policy: policy).shown
            if !shown.isEmpty, shown.allSatisfy(\.decision.isTrusted) { names.append(name) }
        }
        if let curl, try await curl.getsIn() { names.append("curl") }
        return names
    }
}
