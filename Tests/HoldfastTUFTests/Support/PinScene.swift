import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// Servers with certificates, a repository of their pins, an app, and a clock that a test moves.
struct PinScene {
    enum Way: String, Sendable, CaseIterable {
        case bundle, files
    }

    static let host = "api.example.com"
    static let other = "www.example.com"
    static let day: TimeInterval = 86_400

    let clock = ManualClock(now: TestRepository.start)
    let authority: TestAuthority
    /// The servers' certificate, one whose key is its backup, and one that is not pinned.
    let leaf: TestCertificate
    let backup: TestCertificate
    let foreign: TestCertificate
    let provider = RepositoryProvider()
    let storage = InMemoryDataStore()
    let log = RecordingLog()
    var repository: TestRepository
    var way = Way.bundle
    var floor: PinFloor
    var application: String?
    var shipped: PinRepositoryConfiguration.Shipped?
    var buildDate: Date?

    init(_ way: Way = .bundle) throws {
        authority = try TestAuthority.root(clock: clock)
        let names = [Self.host, Self.other, "old.example.com", "new.example.com"].map { TestGeneralName.dns($0) }
        leaf = try authority.leaf(names: names)
        backup = try authority.leaf(names: names)
        foreign = try authority.leaf(names: names)
        repository = try TestRepository()
        repository.expire("root", at: TestRepository.start.addingTimeInterval(4_000 * Self.day))
        try repository.publish("root")
        floor = PinFloor(covering: [try HostPattern(Self.host)])
        self.way = way
        try publish()
    }

    // MARK: The repository

    func entry(
        _ name: String = PinScene.host, enforcement: PinSet.Enforcement = .enforce, active: TestCertificate? = nil,
        withBackup: Bool = true, afterExpiry: PinSet.ExpiryAction = .reject, report: PinFile.Report? = nil
    ) throws -> PinFile.Host {
        var pins = [try PinFile.KeyPin(Pin.publicKey(of: (active ?? leaf).der))]
        if withBackup { pins.append(try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup)) }
        return try PinFile.Host(
            try HostPattern(name), enforcement: enforcement, afterExpiry: afterExpiry, pins: pins, report: report)
    }

    /// A pin file that ends after 30 days, with two weeks of grace.
    func pinFile(
        _ hosts: [PinFile.Host]? = nil, issuedAt: Date? = nil, days: TimeInterval = 30, graceDays: Int = 14,
        app: String? = nil
    ) throws -> PinFile {
        let issued = issuedAt ?? clock.now
        return try PinFile(
            app: app, issuedAt: issued, notAfter: issued.addingTimeInterval(days * Self.day),
            refresh: PinFile.Refresh(after: 21_600, grace: graceDays * 86_400),
            hosts: try hosts ?? [entry(), entry(Self.other)])
    }

    mutating func publish(_ file: PinFile? = nil) throws {
        repository.addTarget("pins.json", try (file ?? pinFile()).json)
        try renew()
    }

    /// New versions of everything but root, good for 10 days from now on.
    mutating func renew(days: TimeInterval = 10) throws {
        for role in ["timestamp", "snapshot", "targets"] {
            repository.expire(role, at: clock.now.addingTimeInterval(days * Self.day))
        }
        repository.expire("targets", at: clock.now.addingTimeInterval(400 * Self.day))
        try repository.publishAll()
        provider.serve(repository)
    }

    // MARK: The app

    func configuration() throws -> PinRepositoryConfiguration {
        func url(_ path: String) throws -> URL { try #require(URL(string: RepositoryProvider.base + path)) }
        var configuration = PinRepositoryConfiguration(
            source: way == .bundle
                ? .bundle(try url("bundle.json")) : .files(metadata: try url("metadata"), targets: try url("targets")),
            root: try #require(repository.served("1.root.json")), floor: floor)
        configuration.application = application
        configuration.shipped = shipped
        configuration.buildDate = buildDate
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        return configuration
    }

    /// The app as it starts: with what is stored, and without a request.
    func start() throws -> PinRepository {
        try PinRepository(checking: configuration(), clock: clock, logger: log.logger)
    }

    func trust(_ host: String = PinScene.host, _ certificate: TestCertificate? = nil) throws -> ServerTrust {
        ServerTrust(
            certificates: (certificate ?? leaf).chain, host: try DialedHost(host),
            anchors: try TrustAnchors(der: [authority.root]))
    }

    func decision(
        _ pins: PinRepository, _ host: String = PinScene.host, _ certificate: TestCertificate? = nil
    ) throws -> TrustDecision {
        try pins.policy(for: host).decision(about: try trust(host, certificate), at: clock.now)
    }

    /// The reason for which a host is rejected; nil where it is trusted.
    func rejection(
        _ pins: PinRepository, _ host: String = PinScene.host, _ certificate: TestCertificate? = nil
    ) throws -> TrustFailure.Code? { try decision(pins, host, certificate).failure?.code }
}

extension PinRepository {
    /// The error with which a forced update ends; nil where it succeeds.
    func refusal() async -> StoreError? {
        do throws(StoreError) {
            try await update(mode: .forced)
            return nil
        } catch {
            return error
        }
    }

    /// Waits for the update that is under way, if one is.
    func settle() async { _ = await documents.state.withLock { $0.underWay }?.value }
}

extension StoreError {
    var metadataCode: TUFError.Code? { (underlying as? TUFError)?.code }
    var floorCode: PinFloorError.Code? { (underlying as? PinFloorError)?.code }
}
