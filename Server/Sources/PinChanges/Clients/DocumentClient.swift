package import Foundation
package import Holdfast
import HoldfastTUF
package import HostMonitoring
import Logging

/// A client of one document: the code that apps run, starting with only the data of their build.
package struct DocumentClient: Sendable {
    /// The client code, and the document that it requests.
    package enum Kind: Sendable, Hashable {
        /// A `CertStore` with a list.
        case list(path: String)
        /// A `CertStore` that sends challenges.
        case challenge(app: String)
        /// A `TrustServerStore`, with a policy for certificates and one for keys.
        case trustServer(path: String, customer: String)
        /// A `PinRepository` with the first root, of a repository in a folder, for an application; nil for any.
        case repository(folder: String, root: [UInt8], application: String?)
        /// The policies of a pin file, as a build of an application contains it.
        case pinFile(path: String, application: String)
    }

    /// A client with its pins.
    package struct Ready: Sendable {
        /// The name.
        package let name: String
        /// Its policies for a host that is dialed.
        let policies: @Sendable (DialedHost) throws -> [any TrustPolicy]
    }

    package let kind: Kind
    /// The name, in the plural, such as `CertStore apps with the list lists/bank.json`.
    package let name: String

    package init(kind: Kind, name: String) {
        self.kind = kind
        self.name = name
    }

    /// The path of the document; nil for challenge answers, which are not files.
    package var path: String? {
        switch kind {
        case .list(let path), .trustServer(let path, _), .pinFile(let path, _): path
        case .repository(let folder, _, _): "\(folder)/\(Self.bundle)"
        case .challenge: nil
        }
    }

    /// The address of an app's challenges.
    package static func challengeAddress(below base: URL, of app: String) -> URL {
        base.appending(path: "app/init").appending(queryItems: [.init(name: "appName", value: app)])
    }

    private static let bundle = "bundle.json"
    private static let silent = Logger(label: "holdfast.clients") { _ in SwiftLogNoOpLogHandler() }
    /// Maximum size of a pin file.
    private static let maximumFile = 16 << 20

    /// Starts the client, and downloads its document.
    /// - Parameter hosts: the hosts that it dials.
    /// - Throws: ``ClientFailure``.
    package func started(_ build: ClientBuild, dialing hosts: [DialedHost]) async throws(ClientFailure) -> Ready {
        switch kind {
        case .list(let path): return try await certStore(build, build.base.appending(path: path), isChallenging: false)
        case .challenge(let app):
            return try await certStore(build, Self.challengeAddress(below: build.base, of: app), isChallenging: true)
        case .trustServer(let path, let customer): return try await trustServer(build, path, customer)
        case .repository(let folder, let root, let application):
            return try await repository(build, folder, root, application, hosts)
        case .pinFile(let path, let application): return try await pinFile(build, path, application)
        }
    }

    private func certStore(
        _ build: ClientBuild, _ url: URL, isChallenging: Bool
    ) async throws(ClientFailure) -> Ready {
        guard let publicKey = build.publicKey else { throw ClientFailure(isRefusal: true, "the app has no key") }
        let store = try Self.updating { () throws(StoreError) in
            try CertStore(
                checking: CertStoreConfiguration(serviceURL: url, publicKey: publicKey, useChallenge: isChallenging),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: build.provider, clock: build.clock,
                logger: Self.silent)
        }
        try await Self.update(store)
        return Ready(name: name) { [try store.policy(for: $0.name)] }
    }

    private func trustServer(
        _ build: ClientBuild, _ path: String, _ customer: String
    ) async throws(ClientFailure) -> Ready {
        guard let certificate = build.signer else { throw ClientFailure(isRefusal: true, "the app has no key") }
        let signer: TrustServerSigner
        do {
            signer = try TrustServerSigner(certificate: Data(certificate))
        } catch {
            throw ClientFailure(refusing: error)
        }
        var configuration = TrustServerConfiguration(
            url: build.base.appending(path: path), signer: signer, customer: customer)
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = build.provider
        let store = try Self.updating { [configuration] () throws(StoreError) in
            try TrustServerStore(checking: configuration, clock: build.clock, logger: Self.silent)
        }
        try await Self.update(store)
        return Ready(name: name) { host in
            [
                try store.policy(for: host.name, pinning: .certificate),
                try store.policy(for: host.name, pinning: .publicKey),
            ]
        }
    }

    private func repository(
        _ build: ClientBuild, _ folder: String, _ root: [UInt8], _ application: String?, _ hosts: [DialedHost]
    ) async throws(ClientFailure) -> Ready {
        var configuration = PinRepositoryConfiguration(
            source: .bundle(build.base.appending(path: "\(folder)/\(Self.bundle)")), root: Data(root),
            floor: PinFloor(covering: hosts.map { HostPattern($0) }))
        configuration.application = application
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = build.provider
        // The provider decides which addresses are permitted without TLS.
        configuration.allowsPlainHTTP = true
        let store = try Self.updating { [configuration] () throws(StoreError) in
            try PinRepository(checking: configuration, clock: build.clock, logger: Self.silent)
        }
        try await Self.update(store)
        return Ready(name: name) { [try store.policy(for: $0.name)] }
    }

    private func pinFile(
        _ build: ClientBuild, _ path: String, _ application: String
    ) async throws(ClientFailure) -> Ready {
        let file = try Self.read(try await Self.download(build, path))
        guard file.app.map({ $0.utf8.elementsEqual(application.utf8) }) ?? false else {
            throw ClientFailure(
                isRefusal: true, "expected pins of the application \(application), found those of another")
        }
        return ready(with: file)
    }

    private static func read(_ bytes: Data) throws(ClientFailure) -> PinFile {
        do throws(PinFileError) { return try PinFile(json: bytes) } catch { throw ClientFailure(refusing: error) }
    }

    private func ready(with file: PinFile) -> Ready {
        let manager = TrustManager()
        manager.add(policies: file.policies())
        return Ready(name: name) { host in manager.policy(for: host).map { [$0] } ?? [] }
    }

    private static func download(_ build: ClientBuild, _ path: String) async throws(ClientFailure) -> Data {
        let request = RemoteDataRequest(url: build.base.appending(path: path), maximumBytes: maximumFile)
        let response: RemoteDataResponse
        do {
            response = try await build.provider.data(for: request)
        } catch {
            let found = (error as? RemoteDataError).map { "found \($0.found)" } ?? "no answer"
            throw ClientFailure(isRefusal: false, "it could not be downloaded: \(found)")
        }
        guard case .body(let body) = response.content else {
            throw ClientFailure(isRefusal: false, "it could not be downloaded: no document came")
        }
        return body
    }

    private static func updating<Store>(_ make: () throws(StoreError) -> Store) throws(ClientFailure) -> Store {
        do throws(StoreError) { return try make() } catch { throw ClientFailure(error) }
    }

    private static func update(_ store: some UpdatingStore) async throws(ClientFailure) {
        let report: StoreUpdateReport
        do throws(StoreError) {
            report = try await store.update(mode: .forced)
        } catch {
            throw ClientFailure(error)
        }
        if let error = report.error { throw ClientFailure(error) }
    }
}

extension DocumentClient.Ready {
    /// The reason why it would refuse a presented chain; nil if it accepts.
    package func refusal(of trust: ServerTrust, dialing host: DialedHost, at time: Date) -> String? {
        let policies: [any TrustPolicy]
        do {
            policies = try self.policies(host)
        } catch {
            return ClientFailure(refusing: error).words
        }
        guard !policies.isEmpty else { return "it has no pins for the host" }
        for policy in policies {
            guard let failure = policy.evaluate(trust, at: time).failure else { continue }
            return "\(failure.code.rawValue): expected \(failure.expected), found \(failure.found)"
        }
        return nil
    }
}
