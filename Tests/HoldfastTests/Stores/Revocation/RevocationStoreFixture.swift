import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// An authority whose certificates name the place of its lists, what is published there, and a clock that stands still.
struct RevocationStoreFixture {
    static let issuingURL = "http://lists.example.com/issuing.crl"
    static let rootURL = "http://lists.example.com/root.crl"

    let clock = ManualClock(now: Judge.now)
    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate
    let provider = ScriptedProvider()
    let storage = InMemoryDataStore()
    let log = RecordingLog()

    init() throws {
        root = try TestAuthority.root(clock: clock)
        issuing = try root.intermediate { $0.extensions = [Self.point(Self.rootURL)] }
        leaf = try issuing.leaf(names: ["www.example.com"]) { $0.extensions = [Self.point(Self.issuingURL)] }
    }

    static func point(_ urls: String...) -> TestExtension {
        RevocationPoints.inCertificate(urls.map { RevocationPoints.url($0) })
    }

    func read(_ certificate: TestCertificate) throws -> X509Certificate { try X509Certificate(der: certificate.der) }

    func list(
        _ revoked: TestCertificate..., by authority: TestAuthority? = nil,
        configure: (inout TestRevocationList) -> Void = { _ in }
    ) throws -> [UInt8] {
        let serials = try revoked.map { try RevocationScene.serial($0) }
        return try (authority ?? issuing).revocationList { list in
            list.serialNumbers = serials
            list.thisUpdate = .hours(0)
            configure(&list)
        }
    }

    /// Sets the servers' answers, by URL; others are not found.
    func publish(_ lists: [String: [UInt8]], headers: [String: String] = [:]) {
        provider.answer { request in
            guard let list = lists[request.url.absoluteString] else { throw RemoteDataError(status: 404) }
            return RemoteDataResponse(.body(Data(list)), headers: headers)
        }
    }

    /// A store for the issuing authority's list, or for what its paths show.
    func store(
        configured urls: [String] = [issuingURL], _ configure: (inout RevocationConfiguration) throws -> Void = { _ in }
    ) throws -> RevocationStore {
        var configuration = RevocationConfiguration(
            authorities: urls.isEmpty
                ? []
                : [
                    .init(
                        certificate: try read(issuing.certificate), anchor: try read(root.certificate),
                        urls: try urls.map { try #require(URL(string: $0)) })
                ])
        configuration.followsDistributionPoints = urls.isEmpty
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        try configure(&configuration)
        return try RevocationStore(configuration: configuration, clock: clock, logger: log.logger)
    }

    func validator(_ store: RevocationStore, cache: VerifiedPathCache? = nil) throws -> PathValidator {
        PathValidator(anchors: try TrustAnchors(der: [root.root]), revocation: store, cache: cache)
    }

    /// The outcome of a validation that the store is notified of.
    func outcome(_ store: RevocationStore, of chain: [[UInt8]]? = nil) throws -> ValidationOutcome {
        let validator = try validator(store)
        let outcome = validator.validate(
            PresentedChain(chain ?? leaf.chain), for: .server(identity: try DialedHost("www.example.com")),
            at: clock.now
        ) { _ in true }
        validator.noteUse(following: outcome.pathsToFollow)
        return outcome
    }

    func code(_ store: RevocationStore, of chain: [[UInt8]]? = nil) throws -> TrustFailure.Code? {
        let outcome = try outcome(store, of: chain)
        return outcome.path == nil ? outcome.failure?.code : nil
    }

    var places: [String] { Set(provider.requests.map(\.url.absoluteString)).sorted() }
}

extension RevocationStore {
    /// Waits for updates that validations asked for, which may have begun before something was published.
    private func settle() async {
        for place in known.withLock({ $0.places.values }) {
            _ = await place.documents?.state.withLock { $0.underWay }?.value
        }
    }

    /// A forced update that begins now.
    func refresh() async throws {
        await settle()
        try await update(mode: .forced)
    }

    /// The error that a forced update ends with; nil when it succeeds.
    func updateError() async -> StoreError? {
        await settle()
        do throws(StoreError) {
            try await update(mode: .forced)
            return nil
        } catch {
            return error
        }
    }
}
