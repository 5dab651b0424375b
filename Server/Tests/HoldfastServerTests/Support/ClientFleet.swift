import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Logging
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Every kind of client of what is published under a name, each as it begins now: CertStore in both modes, the policies of
/// trust servers, pin files, PinRepository and TUFClient in this process, over sockets; curl, openssl, python-tuf and
/// `holdfastctl check` in ``ForeignPeers``. All ask directly and through nginx as a cache.
struct ClientFleet: Sendable {
    /// The name under which apps ask.
    let app: AppName
    /// The key that apps are built with; nil if no list and no challenge answers are published.
    let publicKey: String?
    /// The certificate that trust servers' clients are configured with, DER; nil without one.
    let signer: [UInt8]?
    let root: TestAuthority
    let clock: any WallClock
    /// The published documents, by path.
    let documents: [String: [UInt8]]
    let hasChallenges: Bool
    /// The port of the host that they dial.
    var hostPort = 443
    /// The application whose pins a repository has; nil for the name under which apps ask.
    var application: String?

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)

    /// A place to ask: a listener, or nginx before it.
    private struct Place {
        let port: Int
        let prefix: String

        var base: String { "http://127.0.0.1:\(port)\(prefix)" }
    }

    /// A client that has downloaded what it asks for.
    private struct Client {
        let name: String
        let policies: [any TrustPolicy]
    }

    /// Has all of them follow, and expects that every one lets the same certificates in.
    /// - Parameters:
    ///   - port: of the listener.
    ///   - accepted: what the host shows, or is about to show.
    ///   - refused: what was not approved.
    ///   - isThorough: whether `holdfastctl check` judges too, which takes a process for each document.
    func expect(
        on port: Int, lettingIn accepted: [TestCertificate], refusing refused: [TestCertificate] = [],
        isThorough: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(!documents.isEmpty || hasChallenges, "nothing is published", sourceLocation: sourceLocation)
        let peers = Need.foreignPeers.runsPart() ? try await ForeignPeers.shared.value : nil
        var places = ["directly": Place(port: port, prefix: "")]
        if let peers {
            places["through nginx"] = Place(port: peers.cache, prefix: "/\(port)/\(UUID().uuidString.lowercased())")
        }
        var pins: Set<Data> = []
        for (name, place) in places {
            do {
                for client in try await clients(at: place) {
                    for (isAccepted, certificates) in [(true, accepted), (false, refused)] {
                        for certificate in certificates {
                            let isIn = try client.policies.allSatisfy { try letsIn(certificate, $0) }
                            #expect(isIn == isAccepted, "\(client.name), \(name)", sourceLocation: sourceLocation)
                        }
                    }
                }
                if let followed = try await followed(at: place) { pins.insert(followed) }
            } catch {
                Issue.record("\(name): \(error)", sourceLocation: sourceLocation)
            }
        }
        #expect(pins.count <= 1, sourceLocation: sourceLocation)
        guard let peers else { return }
        let answer = try await peers.ask(
            question(places.mapValues(\.base), pins: pins.first, shown: isThorough ? accepted.first : nil))
        #expect(answer.problems == [], sourceLocation: sourceLocation)
        #expect(answer.done.contains("curl") && answer.done.contains("openssl"), sourceLocation: sourceLocation)
        if repositoryRoot != nil, Need.pythonTUF.runsPart() {
            #expect(answer.done.contains("python-tuf"), sourceLocation: sourceLocation)
        }
    }

    private func letsIn(_ certificate: TestCertificate, _ policy: any TrustPolicy) throws -> Bool {
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain),
            purpose: .server(identity: try DialedHost(World.host, port: hostPort)),
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        return policy.evaluate(trust, at: clock.now).isTrusted
    }

    // MARK: What is published

    private var list: String? { documents["lists/\(app).json"].map { _ in "lists/\(app).json" } }
    private var trust: String? { documents.keys.first { $0.hasPrefix("trust/") } }
    private var repository: String { "repo/\(app)" }
    private var repositoryRoot: Data? { documents["\(repository)/metadata/1.root.json"].map { Data($0) } }

    // MARK: Clients of this process

    private func clients(at place: Place) async throws -> [Client] {
        var clients: [Client] = []
        if list != nil { clients.append(try await store(place, "lists/\(app).json", challenging: false)) }
        if hasChallenges { clients.append(try await store(place, "app/init?appName=\(app)", challenging: true)) }
        if let trust, let signer {
            var configuration = TrustServerConfiguration(
                url: try #require(URL(string: "\(place.base)/\(trust)")),
                signer: try TrustServerSigner(certificate: Data(signer)), customer: World.customer)
            configuration.secureDataStore = InMemoryDataStore()
            configuration.remoteDataProvider = Self.provider
            let store = try TrustServerStore(checking: configuration, clock: clock, logger: Self.quiet)
            _ = try await store.update(mode: .forced)
            for (name, subject) in [("certificates", Pin.Subject.certificate), ("keys", .publicKey)] {
                clients.append(Client(name: name, policies: [try store.policy(for: World.host, pinning: subject)]))
            }
        }
        let file = "pins/\(app).pins.json"
        if documents[file] != nil {
            let answer = try await RawClient(port: place.port).get("\(place.prefix)/\(file)")
            try #require(answer.status == 200, "\(answer.text)")
            let policies = try PinFile(json: Data(answer.body.utf8)).policies()
            clients.append(Client(name: "pin file", policies: policies))
        }
        guard let root = repositoryRoot else { return clients }
        for isBundle in [true, false] {
            let app = try RepositoryApp(
                "\(place.base)/\(repository)", root: root, isBundle: isBundle, provider: Self.provider, clock: clock,
                application: application ?? "\(self.app)")
            let started = try app.started()
            _ = try await started.update(mode: .forced)
            clients.append(
                Client(name: isBundle ? "bundle" : "files", policies: [try started.policy(for: World.host)]))
        }
        return clients
    }

    private func store(_ place: Place, _ path: String, challenging: Bool) async throws -> Client {
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "\(place.base)/\(path)")), publicKey: try #require(publicKey),
                useChallenge: challenging),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: Self.provider, clock: clock, logger: Self.quiet)
        let update = try await store.update(mode: .forced)
        if let error = update.error { throw error }
        return Client(name: challenging ? "challenge" : "list", policies: [try store.policy(for: World.host)])
    }

    /// The pin file that a client of The Update Framework finds; nil if no repository is published.
    private func followed(at place: Place) async throws -> Data? {
        guard let root = repositoryRoot else { return nil }
        let base = try #require(URL(string: "\(place.base)/\(repository)"))
        let client = TUFClient(
            store: MetadataMemory(),
            source: HTTPRepositorySource(
                metadata: base.appending(path: "metadata"), targets: base.appending(path: "targets"),
                provider: Self.provider), trustedRoot: root, clock: clock)
        let update = try await client.refresh()
        return try await update.data(of: update.target("pins.json"))
    }

    // MARK: Foreign clients

    private func question(
        _ bases: [String: String], pins: Data?, shown: TestCertificate?
    ) -> ForeignPeers.Question {
        var question = ForeignPeers.Question(
            time: Int64(clock.now.timeIntervalSince1970), bases: bases,
            documents: documents.map { .init(path: $0.key, sha256: "\(Digest(of: $0.value))") })
        if let publicKey {
            question.list = list.map { .init(path: $0, key: publicKey) }
            question.challenge = hasChallenges ? .init(app: "\(app)", key: publicKey) : nil
        }
        if let trust, let signer { question.trust = .init(path: trust, signer: Data(signer)) }
        if let root = repositoryRoot, let pins {
            question.repository = .init(path: repository, root: root, pins: "\(Digest(of: pins))")
        }
        if let shown, question.list != nil || question.trust != nil, Need.holdfastctl.runsPart() {
            question.check = .init(
                program: ManualDesk.holdfastctl.path, host: World.host, chain: shown.chain.map { Data($0) },
                roots: [Data(root.root)])
        }
        return question
    }
}

extension Publisher {
    /// Has every kind of client follow what it serves of an app now, over sockets, directly and through a cache.
    /// - Parameters:
    ///   - audience: nil for all clients, or the canary while only that has a document.
    ///   - accepted: what all let in.
    ///   - refused: what all refuse.
    ///   - hasChallenges: nil if challenges are answered wherever the app has a part that is published.
    func everybodyFollows(
        _ app: AppName, as audience: ReleaseChannel? = nil, lettingIn accepted: [TestCertificate],
        refusing refused: [TestCertificate] = [], trusting root: TestAuthority, clock: any WallClock,
        hasChallenges: Bool? = nil, hostPort: Int = 443, isThorough: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let live = live.current
        let audience = audience ?? (live.parts[app] == nil ? .canary : .everybody)
        let name = try #require(audience.name(of: app))
        let part = try #require(live.parts[name], "nothing is served", sourceLocation: sourceLocation)
        let list = try await catalog.key(.fingerprints, of: app)
        let trust = try await catalog.key(.trustServer, of: app)
        let fleet = ClientFleet(
            app: name, publicKey: list.map { Base64.encode($0.publicKey.suffix(65)) },
            signer: trust?.certificate, root: root, clock: clock,
            documents: part.documents.mapValues(\.bytes), hasChallenges: hasChallenges ?? (part.app != nil),
            hostPort: hostPort, application: try await published(app)?.repository?.application)
        let site = try ServingSite()
        site.time.withLock { $0 = Int64(clock.now.timeIntervalSince1970) }
        site.live.replace(with: live)
        try await site.listening { port in
            try await fleet.expect(
                on: port, lettingIn: accepted, refusing: refused, isThorough: isThorough,
                sourceLocation: sourceLocation)
        }
    }
}

extension World {
    /// Has every kind of client follow what is served now, over sockets, directly and through a cache.
    /// - Parameters:
    ///   - app: nil for the world's own.
    ///   - accepted: what all let in; nil for what the host shows, if that is published.
    ///   - refused: what all refuse.
    ///   - publisher: of which process; nil for the world's own.
    ///   - audience: nil for all clients, or the canary while only that has a document.
    func everybodyFollows(
        of app: AppName? = nil, lettingIn accepted: [TestCertificate]? = nil, refusing refused: [TestCertificate] = [],
        from publisher: Publisher? = nil, as audience: ReleaseChannel? = nil, hasChallenges: Bool? = nil,
        isThorough: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let app = app ?? self.app
        let good = if let accepted { accepted } else { try await publishedShown(of: app) }
        try await (publisher ?? self.publisher).everybodyFollows(
            app, as: audience, lettingIn: good, refusing: refused, trusting: root, clock: clock,
            hasChallenges: hasChallenges, isThorough: isThorough, sourceLocation: sourceLocation)
    }

    /// The certificate that the host presents, if it is published and has not expired.
    private func publishedShown(of app: AppName) async throws -> [TestCertificate] {
        let digest = Digest(of: shown.der)
        let hosts = try await publisher.published(app)?.hosts.filter { $0.name == Self.host } ?? []
        let isThere = hosts.flatMap(\.certificates).contains { $0.fingerprint == digest && $0.expires >= now }
        return isThere ? [shown] : []
    }
}

extension ServerFolder {
    /// Has every kind of client follow what other processes have published on a folder.
    func everybodyFollows(
        lettingIn accepted: [TestCertificate], refusing refused: [TestCertificate] = [], trusting root: TestAuthority,
        hostPort: Int = 443, isThorough: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // The uptime of a machine whose clock is turned is unknown.
        let open = try await open(clock: SystemWallClock(), steady: SteadyTime(boot: nil) { 0 })
        do {
            try await open.publisher.refresh()
            try await open.publisher.everybodyFollows(
                AppName("bank"), lettingIn: accepted, refusing: refused, trusting: root, clock: SystemWallClock(),
                hostPort: hostPort, isThorough: isThorough, sourceLocation: sourceLocation)
        } catch {
            await open.engine.close()
            throw error
        }
        await open.engine.close()
    }
}

extension ServeSite {
    private func fleet(_ documents: [String: [UInt8]]) -> ClientFleet {
        ClientFleet(
            app: app, publicKey: publicKey, signer: Array(trust.certificate), root: root, clock: clock,
            documents: documents, hasChallenges: true)
    }

    /// Has every kind of client follow what a server serves that runs.
    func everybodyFollows(_ port: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var documents: [String: [UInt8]] = [:]
        for path in server.publicFolder.paths() where !path.contains("-canary") {
            documents[path] = try server.publicFolder.read(path)
        }
        try await fleet(documents).expect(
            on: port, lettingIn: [shown, announced], sourceLocation: sourceLocation)
    }

    /// Has every kind of client follow what was published just now.
    func everybodyFollows(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let live = open.publisher.live.current
        let part = try #require(live.parts[app], "nothing is served", sourceLocation: sourceLocation)
        let site = try ServingSite()
        site.time.withLock { $0 = now }
        site.live.replace(with: live)
        try await site.listening { port in
            try await fleet(part.documents.mapValues(\.bytes)).expect(
                on: port, lettingIn: [shown, announced], isThorough: false, sourceLocation: sourceLocation)
        }
    }
}
