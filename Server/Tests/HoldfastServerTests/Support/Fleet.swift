import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Apps in the field, of every format. Each asks as seldom as it may, is restarted whenever it asks, and in between
/// continues to use what it has.
struct Fleet {
    /// The configuration of all apps.
    struct Build {
        let catalog: Catalog
        let app: AppName
        let host: CatalogHost
        let clock: any WallClock
        /// Where documents are, without a slash at the end.
        let base: String
        /// Makes the provider for one update of an app.
        let provider: @Sendable () -> any RemoteDataProvider
        /// DER of the root that phones trust.
        let anchor: [UInt8]
        let customer: String
        /// The formats that apps ask for.
        let kinds: Set<ContentFormat.Kind>
        /// The oldest root of the repository; nil if there is none.
        let root: Data?
    }

    private struct Phone {
        let kind: ContentFormat.Kind
        let installed: Int64
        let interval: Int64
        let storage = InMemoryDataStore()
        var asks: Int64
        var policies: [(name: String, policy: any TrustPolicy)] = []
    }

    private let build: Build
    private let publicKey: String
    private let signer: TrustServerSigner
    private let validator: PathValidator
    private var phones: [Phone] = []

    init(_ build: Build) async throws {
        self.build = build
        let key = try #require(try await build.catalog.key(.fingerprints, of: build.app))
        publicKey = Base64.encode(key.publicKey.suffix(65))
        let trust = try #require(try await build.catalog.key(.trustServer, of: build.app))
        signer = try TrustServerSigner(certificate: Data(try #require(trust.certificate)))
        validator = PathValidator(anchors: try TrustAnchors(der: [build.anchor]))
    }

    private var now: Int64 { Int64(build.clock.now.timeIntervalSince1970) }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "\(build.base)/\(path)")) }

    /// Installs an app of each format, and starts it.
    /// - Parameter interval: after how many seconds each asks again. Those of a trust server ask whenever they connect.
    mutating func install(askingEvery interval: Int64) async throws {
        for kind in ContentFormat.Kind.allCases where build.kinds.contains(kind) {
            let pause = kind == .trustServer ? 0 : interval
            var phone = Phone(kind: kind, installed: now, interval: pause, asks: now + pause)
            try await ask(&phone)
            phones.append(phone)
        }
    }

    /// Those whose time has come ask.
    mutating func pass() async throws {
        for index in phones.indices where phones[index].asks <= now {
            var phone = phones[index]
            try await ask(&phone)
            phone.asks = now + phone.interval
            phones[index] = phone
        }
    }

    /// How many apps there are.
    var count: Int { phones.count }

    /// The apps that refuse a chain now, with the reason.
    func refusals(of chain: [[UInt8]]) throws -> [String] {
        let trust = ServerTrust(
            chain: PresentedChain(chain),
            purpose: .server(identity: try DialedHost(build.host.name, port: Int(build.host.port))),
            validator: validator)
        return phones.flatMap { phone in
            phone.policies.compactMap { name, policy in
                let decision = policy.evaluate(trust, at: build.clock.now)
                guard !decision.isTrusted else { return nil }
                return "\(name), installed \((now - phone.installed) / 3_600) hours ago, asks in "
                    + "\((phone.asks - now) / 3_600) hours: \(decision.failure.map { "\($0)" } ?? "")"
            }
        }
    }

    private func ask(_ phone: inout Phone) async throws {
        let name = build.host.name
        let provider = build.provider()
        switch phone.kind {
        case .list, .challenge:
            let path = phone.kind == .list ? "lists/\(build.app).json" : "app/init?appName=\(build.app)"
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: try url(path), publicKey: publicKey, useChallenge: phone.kind == .challenge),
                secureDataStore: phone.storage, remoteDataProvider: provider, clock: build.clock,
                logger: AdministrationSite.quiet)
            let update = try await store.update(mode: .forced)
            #expect(update.error == nil, "\(phone.kind)")
            phone.policies = [("\(phone.kind)", try store.policy(for: name))]
        case .trustServer:
            var configuration = TrustServerConfiguration(
                url: try url("trust/\(build.customer).json.signed"), signer: signer, customer: build.customer)
            configuration.remoteDataProvider = provider
            configuration.secureDataStore = phone.storage
            let store = try TrustServerStore(
                checking: configuration, clock: build.clock, logger: AdministrationSite.quiet)
            _ = try await store.update(mode: .forced)
            phone.policies = [
                ("certificates", try store.policy(for: name, pinning: .certificate)),
                ("keys", try store.policy(for: name, pinning: .publicKey)),
            ]
        case .repository:
            let app = try RepositoryApp(
                "\(build.base)/repo/\(build.app)", root: try #require(build.root), isBundle: true, provider: provider,
                clock: build.clock, application: "\(build.app)", storage: phone.storage)
            let repository = try app.started()
            _ = try await repository.update(mode: .forced)
            phone.policies = [("repository", try repository.policy(for: name))]
        case .pinFile: Issue.record("no app asks for \(phone.kind)")
        }
    }
}
