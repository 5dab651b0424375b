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
@testable import ServerModel

/// Apps of every format that ask a balancer all the time, far more often than any app does, and keep what they got.
final class BalancedPhones: Sendable {
    /// An app.
    private struct Phone: Sendable {
        let name: String
        /// Asks, and gives why it could not take what it got.
        let update: @Sendable () async -> (any Error)?
        let policies: @Sendable () throws -> [any TrustPolicy]
    }

    private struct State {
        var refusals: [String] = []
        var lockouts: [String] = []
        var count = 0
    }

    private let site: ServeSite
    private let phones: [Phone]
    private let state = Mutex(State())

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)

    /// - Parameters:
    ///   - port: of the balancer.
    ///   - root: the oldest root of the repository.
    init(_ site: ServeSite, on port: Int, root: Data) throws {
        self.site = site
        var phones: [Phone] = []
        for challenging in [false, true] {
            let store = try site.certStore(port, challenging: challenging)
            phones.append(
                Phone(
                    name: challenging ? "challenge" : "list",
                    update: { await Self.error { try await store.update(mode: .forced).error } },
                    policies: { [try store.policy(for: World.host)] }))
        }
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: "http://127.0.0.1:\(port)/trust/\(World.customer).json.signed")),
            signer: try TrustServerSigner(certificate: site.trust.certificate), customer: World.customer)
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = Self.provider
        let trust = try TrustServerStore(checking: configuration, clock: site.clock, logger: Self.quiet)
        phones.append(
            Phone(
                name: "trust server", update: { await Self.error { try await trust.update(mode: .forced).error } },
                policies: {
                    [
                        try trust.policy(for: World.host, pinning: .certificate),
                        try trust.policy(for: World.host, pinning: .publicKey),
                    ]
                }))
        let base = "http://127.0.0.1:\(port)/repo/\(site.app)"
        for isBundle in [true, false] {
            let repository = try RepositoryApp(
                base, root: root, isBundle: isBundle, provider: Self.provider, clock: site.clock,
                application: "\(site.app)"
            ).started()
            phones.append(
                Phone(
                    name: isBundle ? "bundle" : "files",
                    update: { await Self.error { try await repository.update(mode: .forced).error } },
                    policies: { [try repository.policy(for: World.host)] }))
        }
        let url = try #require(URL(string: base))
        let client = TUFClient(
            store: MetadataMemory(),
            source: HTTPRepositorySource(
                metadata: url.appending(path: "metadata"), targets: url.appending(path: "targets"),
                provider: Self.provider), trustedRoot: root, clock: site.clock)
        phones.append(
            Phone(
                name: "TUF client",
                update: {
                    await Self.error {
                        let update = try await client.refresh()
                        _ = try await update.data(of: update.target("pins.json"))
                        return nil
                    }
                },
                policies: { [] }))
        self.phones = phones
    }

    private static func error(_ body: () async throws -> (any Error)?) async -> (any Error)? {
        do { return try await body() } catch { return error }
    }

    /// Each asks once.
    /// - Returns: why some could not take what they got.
    @discardableResult
    func ask() async -> [String] {
        var refusals: [String] = []
        for phone in phones { refusals += await ask(phone) }
        return refusals
    }

    private func ask(_ phone: Phone) async -> [String] {
        let error = await phone.update()
        let refusals = error.map { ["\(phone.name): \($0)"] } ?? []
        var lockouts: [String] = []
        do {
            for certificate in [site.shown, site.announced] {
                for policy in try phone.policies() {
                    let trust = ServerTrust(
                        chain: PresentedChain(certificate.chain),
                        purpose: .server(identity: try DialedHost(World.host, port: 443)),
                        validator: PathValidator(anchors: try TrustAnchors(der: [site.root.root])))
                    let decision = policy.evaluate(trust, at: site.clock.now)
                    if let failure = decision.failure { lockouts.append("\(phone.name): \(failure)") }
                }
            }
        } catch {
            lockouts.append("\(phone.name): \(error)")
        }
        let found = lockouts
        state.withLock { state in
            state.count += 1
            state.refusals += refusals
            state.lockouts += found
        }
        return refusals
    }

    /// They ask one after the other as long as a closure runs: all at once they would leave the machines no processor.
    func asking<Value>(_ body: () async throws -> Value) async throws -> Value {
        let task = Task { while !Task.isCancelled { _ = await ask() } }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        await task.value
        return try result.get()
    }

    /// How many there are.
    var formats: Int { phones.count }
    /// How often any of them asked.
    var count: Int { state.withLock { $0.count } }
    /// Why updates failed. What an app has it keeps then.
    var refusals: [String] { state.withLock { $0.refusals } }
    /// Where an app refused what the host shows.
    var lockouts: [String] { state.withLock { $0.lockouts } }
}
