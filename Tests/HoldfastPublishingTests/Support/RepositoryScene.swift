import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// A folder with a repository of pins, its keyholders, a server and its backup key, and devices with apps of every age.
final class RepositoryScene {
    static let host = "api.example.com"
    static let day: TimeInterval = 86_400
    static let start = Date(timeIntervalSince1970: 1_900_000_000)

    /// How a device downloads.
    enum Way: CaseIterable {
        case bundle, files
    }

    let folder: URL
    let clock: ManualClock
    let repository: TUFRepositoryFolder
    let authority: TestAuthority
    let leaf: TestCertificate
    let backup: TestCertificate
    let log = RecordingLog()

    init(_ folder: URL, start: Date = RepositoryScene.start) throws {
        self.folder = folder
        clock = ManualClock(now: start)
        repository = TUFRepositoryFolder(folder.appending(path: "site"))
        authority = try TestAuthority.root(clock: clock)
        leaf = try authority.leaf(names: [.dns(Self.host)]) { $0.notAfter = .days(1_000) }
        backup = try authority.leaf(names: [.dns(Self.host)]) { $0.notAfter = .days(1_000) }
    }

    /// A repository whose first pins are published, in a folder that is removed afterwards. The first of the targets keys
    /// signs them.
    static func published(
        root: [TUFSigningKey], rootThreshold: Int = 1, targets: [TUFSigningKey], online: TUFSigningKey,
        start: Date = RepositoryScene.start, _ body: (RepositoryScene) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let scene = try RepositoryScene(folder, start: start)
            try await scene.begin(root: root, rootThreshold: rootThreshold, targets: targets, online: online)
            try await scene.prepare(signedBy: Array(targets.prefix(1)))
            try await scene.publish(online)
            try await body(scene)
        }
    }

    // MARK: Keyholders

    func begin(
        root: [TUFSigningKey], rootThreshold: Int = 1, targets: [TUFSigningKey], targetsThreshold: Int = 1,
        online: TUFSigningKey
    ) async throws {
        let onlineKeys = TUFRoleKeys([online.publicKey])
        var state = try TUFRepositoryState(
            roles: [
                .root: TUFRoleKeys(root.map(\.publicKey), threshold: rootThreshold),
                .targets: TUFRoleKeys(targets.map(\.publicKey), threshold: targetsThreshold),
                .snapshot: onlineKeys, .timestamp: onlineKeys,
            ], at: clock.now)
        for key in root.prefix(rootThreshold) { _ = try state.sign(by: key) }
        try await repository.writeDrafts(state)
    }

    func pinFile(days: TimeInterval = 90, active: TestCertificate? = nil) throws -> PinFile {
        try PinFile(
            issuedAt: clock.now, notAfter: clock.now.addingTimeInterval(days * Self.day),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
            hosts: [
                try PinFile.Host(
                    try HostPattern(Self.host),
                    pins: [
                        try PinFile.KeyPin(Pin.publicKey(of: (active ?? leaf).der)),
                        try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
                    ])
            ])
    }

    /// Prepares pins, or whatever else, and has keyholders sign it.
    func prepare(
        signedBy keys: [TUFSigningKey], _ change: ((inout TUFRepositoryState) throws -> Void)? = nil
    ) async throws {
        var state = try await repository.state()
        if let change { try change(&state) } else { _ = try state.prepare(pins: pinFile().json, at: clock.now) }
        for key in keys { _ = try state.sign(by: key) }
        try await repository.writeDrafts(state)
    }

    func publication(
        _ online: TUFSigningKey..., renewing: Bool = false, allowing exceptions: Set<TUFPublication.Exception> = []
    ) async throws(TUFRepositoryError) -> TUFPublication {
        try await TUFPublication.make(
            of: try await repository.state(), in: repository, onlineKeys: online, includingDrafts: !renewing,
            allowing: exceptions, at: clock.now)
    }

    func publish(_ online: TUFSigningKey, renewing: Bool = false) async throws {
        try await repository.write(try await publication(online, renewing: renewing))
    }

    // MARK: Devices

    /// The file as it is served.
    func served(_ path: String) throws -> Data {
        try Data(contentsOf: repository.published.appending(path: path))
    }

    /// Everything that is served, by its path.
    func files() throws -> [String: Data] {
        let paths = try? FileManager.default.subpathsOfDirectory(atPath: repository.published.path)
        let files = (paths ?? []).filter { $0.hasSuffix(".json") }
        return try Dictionary(uniqueKeysWithValues: files.map { ($0, try served($0)) })
    }

    func serve(_ data: Data, as path: String) throws {
        let file = repository.published.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// A device with nothing but the app, and the root that it came with.
    func device(_ way: Way, root: Int = 1) throws -> PinRepository {
        func url(_ path: String) throws -> URL { try #require(URL(string: FolderProvider.base + path)) }
        var configuration = PinRepositoryConfiguration(
            source: way == .bundle
                ? .bundle(try url("bundle.json")) : .files(metadata: try url("metadata"), targets: try url("targets")),
            root: try served("metadata/\(root).root.json"),
            floor: PinFloor(covering: [try HostPattern(Self.host)]))
        configuration.remoteDataProvider = FolderProvider(folder: repository.published)
        configuration.secureDataStore = InMemoryDataStore()
        return try PolicyLog.$shared.withValue(log.policyLog) {
            try PinRepository(checking: configuration, clock: clock)
        }
    }

    /// Devices that have just been installed, of both ways.
    func newDevices(root: Int = 1) throws -> [PinRepository] {
        try Way.allCases.map { try device($0, root: root) }
    }

    /// The errors of those that refuse what is served.
    func refusing(_ devices: [PinRepository]) async -> [StoreError] {
        var refusals: [StoreError] = []
        for device in devices {
            do throws(StoreError) {
                try await device.update(mode: .forced)
            } catch {
                refusals.append(error)
            }
        }
        return refusals
    }

    /// How many of them do not let their user get to the server.
    func lockedOut(_ devices: [PinRepository]) throws -> Int {
        let trust = ServerTrust(
            certificates: leaf.chain, host: try DialedHost(Self.host), anchors: try TrustAnchors(der: [authority.root])
        )
        return try devices.count { try !$0.policy(for: Self.host).evaluate(trust, at: clock.now).isTrusted }
    }

    /// Whether python-tuf's client, which keeps its state in the scene's folder, accepts the pin file that is served.
    func pythonTakesIt() throws -> Bool {
        let kept = folder.appending(path: "python")
        if !FileManager.default.fileExists(atPath: kept.path) {
            try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
            try served("metadata/1.root.json").write(to: kept.appending(path: "root.json"))
        }
        let downloads = folder.appending(path: "downloads")
        try FileManager.default.createDirectory(at: downloads, withIntermediateDirectories: true)
        let lines = try PythonTUF.lines(
            of: "folder_client.py", [repository.published.path, kept.path, downloads.path, "pins.json"])
        guard let digest = lines?.first else { return false }
        return FileManager.default.fileExists(
            atPath: repository.published.appending(path: "targets/\(digest).pins.json").path)
    }
}

extension StoreError {
    var metadataCode: TUFError.Code? { (underlying as? TUFError)?.code }
}

/// Serves a folder over no network.
private struct FolderProvider: RemoteDataProvider {
    static let base = "https://pins.example.com/"

    let folder: URL

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let path = String(request.url.absoluteString.dropFirst(Self.base.count))
        guard let data = try? Data(contentsOf: folder.appending(path: path)) else { throw RemoteDataError(status: 404) }
        return RemoteDataResponse(.body(data))
    }
}
