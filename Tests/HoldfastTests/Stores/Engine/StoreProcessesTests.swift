#if os(macOS) || os(Linux)
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// How many processes are killed; `scripts/nightly` asks for 200.
private let kills = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"].flatMap { Int($0) } ?? 0

@Suite("Stores in several processes", .serialized, .timeLimit(.minutes(120)))
struct StoreProcessesTests {
    @Test(
        "What one process stores while another downloads something older stays, whatever is restarted",
        arguments: ProcessScene.Kind.allCases)
    func rollback(kind: ProcessScene.Kind) async throws {
        try await withTemporaryFolder { folder in
            let scene = try ProcessScene(kind, in: folder)
            try scene.publish(1)
            try await ProcessScene.store(kind, in: folder).update()
            let (asked, go) = (Gate(), Gate())
            let own = try ProcessScene.store(kind, in: folder, heldBackBy: (asked, go))
            #expect(own.version() == 1)
            try scene.publish(2)
            // It has the old document in its hands, and saves after another process has stored the newer one. That process
            // waits for nothing: Swift Testing blocks a thread that tasks run on until it ends.
            async let update: Void = own.update()
            await asked.wait()
            try scene.publish(3)
            let (path, name): (String, String) = (folder.path, kind.rawValue)
            await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
                let kind = try #require(ProcessScene.Kind(rawValue: name))
                let store = try ProcessScene.store(kind, in: URL(filePath: path))
                try await store.update()
                #expect(store.version() == 3)
            }
            go.open()
            try await update
            #expect(own.version() == 3)
            #expect(try ProcessScene.store(kind, in: folder).version() == 3)
            try await own.update()
            #expect(own.version() == 3)
        }
    }

    @Test(
        "A process that has an older document than the storage goes by that one from its next update on",
        arguments: ProcessScene.Kind.allCases)
    func catchesUp(kind: ProcessScene.Kind) async throws {
        try await withTemporaryFolder { folder in
            let scene = try ProcessScene(kind, in: folder)
            try scene.publish(1)
            let own = try ProcessScene.store(kind, in: folder)
            try await own.update()
            try scene.publish(2)
            let (path, name): (String, String) = (folder.path, kind.rawValue)
            await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
                let kind = try #require(ProcessScene.Kind(rawValue: name))
                let store = try ProcessScene.store(kind, in: URL(filePath: path))
                try await store.update()
                #expect(store.version() == 2)
            }
            // Without a network.
            try FileManager.default.removeItem(at: folder.appending(path: "served"))
            try? await own.update()
            #expect(own.version() == 2)
        }
    }

    @Test(
        "Processes that are killed while they update leave what was published, and never an older document",
        .enabled(if: kills > 0, "HOLDFAST_KILLS is not set"), arguments: ProcessScene.Kind.allCases)
    func killed(kind: ProcessScene.Kind) async throws {
        try await withTemporaryFolder { folder in
            let scene = try ProcessScene(kind, in: folder)
            try scene.publish(1)
            try await ProcessScene.store(kind, in: folder).update()
            var generator = SplitMix64(seed: 23)
            var newest = 1
            var outcomes: Set<Bool> = []
            for _ in 0..<(kills / ProcessScene.Kind.allCases.count) {
                let published = newest % 200 + 1
                guard published > newest else { break }
                try scene.publish(published)
                let (path, name): (String, String) = (folder.path, kind.rawValue)
                let microseconds = UInt32.random(in: 0..<60_000, using: &generator)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, name = name as String, microseconds = microseconds as UInt32] in
                    Thread.detachNewThread {
                        usleep(microseconds)
                        kill(getpid(), SIGKILL)
                    }
                    let kind = try #require(ProcessScene.Kind(rawValue: name))
                    while true { try await ProcessScene.store(kind, in: URL(filePath: path)).update() }
                }
                let store = try ProcessScene.store(kind, in: folder)
                #expect([newest, published].contains(store.version()))
                outcomes.insert(store.version() == published)
                try await store.update()
                #expect(store.version() == published)
                newest = published
            }
            #expect(outcomes.contains(true))
        }
    }
}

/// Signers and what they publish, in a folder from which every process makes the same store.
struct ProcessScene {
    enum Kind: String, CaseIterable, Sendable { case list, trustServer, revocation, logList }

    /// A store as these tests see it.
    struct Store: Sendable {
        let update: @Sendable () async throws -> Void
        /// Of what counts; 0 for nothing.
        let version: @Sendable () -> Int
    }

    private static let now = Date(wholeSeconds: StoreFixture.start)
    /// A download that is held back lasts as long as a busy machine wants.
    private static let patience = Duration.seconds(3_600)
    private static let address = "https://published.example.com/"

    private let folder: URL
    private let make: (Int) throws -> [String: Data]

    init(_ kind: Kind, in folder: URL) throws {
        self.folder = folder
        let clock = ManualClock(now: Self.now)
        func keep(_ data: Data, _ name: String) throws { try data.write(to: folder.appending(path: name)) }
        switch kind {
        case .list:
            let signer = DocumentSigner()
            try keep(Data(signer.publicKey.base64.utf8), "key")
            make = { version in
                let entry = try signer.entry(
                    StoreFixture.name, .fingerprint(UInt8(version)), StoreFixture.start + StoreFixture.day)
                return ["document": signer.list([entry])]
            }
        case .trustServer:
            let server = try TestTrustServer(clock: clock)
            let leaf = try TestAuthority.root(clock: clock).leaf(names: ["www.example.com"])
            try keep(server.certificate, "key")
            make = { version in
                let time = Self.now.addingTimeInterval(Double(version - 300))
                return ["document": try server.document(at: time, [.init("www.example.com", [leaf])])]
            }
        case .revocation:
            let authority = try TestAuthority.root(clock: clock)
            try keep(Data(authority.root), "key")
            make = { version in
                let list = try authority.revocationList { list in
                    list.number = version
                    list.thisUpdate = .after(.seconds(Double(version - 300)))
                    list.serialNumbers = (1...version).map { [UInt8($0 / 100 + 1), UInt8($0 % 100)] }
                }
                return ["document": Data(list)]
            }
        case .logList:
            let key = try TestKey()
            try keep(Data(key.subjectPublicKeyInfoDER), "key")
            make = { version in
                let time = Self.now.addingTimeInterval(Double(version - 300))
                var list = try TestLogList(issuedAt: time, key: .existing(key))
                list.operators = ["One": [TestLogList.Entry(try TestTransparencyLog())]]
                return ["document": list.json, "signature": try list.signature()]
            }
        }
    }

    func publish(_ version: Int) throws {
        let served = folder.appending(path: "served")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        for (name, data) in try make(version) {
            try data.write(to: served.appending(path: name), options: .atomic)
        }
    }

    /// - Parameter gates: the first opens when the first download is complete, which ends only after the second.
    static func store(_ kind: Kind, in folder: URL, heldBackBy gates: (asked: Gate, go: Gate)? = nil) throws -> Store {
        let clock = ManualClock(now: now)
        let logger = RecordingLog().logger
        let provider = ServedFolder(folder: folder, gates: gates)
        let storage = FileDataStore(folder: folder.appending(path: "kept"))
        let key = try Data(contentsOf: folder.appending(path: "key"))
        func url(_ name: String) throws -> URL { try #require(URL(string: address + name)) }
        switch kind {
        case .list:
            var configuration = CertStoreConfiguration(
                serviceURL: try url("document"), publicKey: String(decoding: key, as: UTF8.self))
            configuration.updateTimeout = patience
            let store = try CertStore(
                checking: configuration, secureDataStore: storage, remoteDataProvider: provider, clock: clock,
                logger: logger)
            return Store(
                update: { try await store.update(mode: .forced) },
                version: { (1...200).first { store.judge(UInt8($0)) == .trusted } ?? 0 })
        case .trustServer:
            var configuration = TrustServerConfiguration(
                url: try url("document"), signer: try TrustServerSigner(certificate: key), customer: "gcx")
            configuration.updateTimeout = patience
            (configuration.remoteDataProvider, configuration.secureDataStore) = (provider, storage)
            let store = try TrustServerStore(checking: configuration, clock: clock, logger: logger)
            return Store(
                update: { try await store.update(mode: .forced) }, version: { version(store.timestamp) })
        case .revocation:
            let authority = try X509Certificate(der: Array(key))
            var configuration = RevocationConfiguration(authorities: [
                .init(certificate: authority, urls: [try url("document")])
            ])
            (configuration.followsDistributionPoints, configuration.updateTimeout) = (false, patience)
            (configuration.remoteDataProvider, configuration.secureDataStore) = (provider, storage)
            let store = try RevocationStore(configuration: configuration, clock: clock, logger: logger)
            return Store(
                update: { try await store.update(mode: .forced) },
                version: { store.lists.first?.list?.count ?? 0 })
        case .logList:
            var configuration = TransparencyLogConfiguration(
                listURL: try url("document"), signatureURL: try url("signature"),
                key: try SubjectPublicKeyInfo(der: Array(key)),
                shipped: TransparencyLogList([], issuedAt: now.addingTimeInterval(-86_400)))
            configuration.updateTimeout = patience
            (configuration.remoteDataProvider, configuration.secureDataStore) = (provider, storage)
            let store = try TransparencyLogStore(checking: configuration, clock: clock, logger: logger)
            return Store(
                update: { try await store.update(mode: .forced) },
                version: { version(store.documents.snapshot.content?.signedAt) })
        }
    }

    private static func version(_ time: Date?) -> Int {
        time.map { Int($0.timeIntervalSince(now.addingTimeInterval(-300))) } ?? 0
    }
}

/// Serves files of a folder to any process.
private struct ServedFolder: RemoteDataProvider {
    private struct Held {
        var isUsed = false
        var files: [String: Data] = [:]
    }

    let folder: URL
    private let held: Lock<Held>
    private let gates: (asked: Gate, go: Gate)?

    init(folder: URL, gates: (asked: Gate, go: Gate)?) {
        self.folder = folder
        self.gates = gates
        held = Lock(Held())
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let name = request.url.lastPathComponent
        let isFirst = held.withLock { held in
            defer { held.isUsed = true }
            return !held.isUsed
        }
        if isFirst, let gates {
            let files = try Dictionary(
                uniqueKeysWithValues: ["document", "signature"].compactMap { name in
                    try current(name).map { (name, $0) }
                })
            held.withLock { $0.files = files }
            gates.asked.open()
            await gates.go.wait()
        }
        // Of the first download every file is an old one.
        guard let data = try held.withLock({ $0.files.removeValue(forKey: name) }) ?? current(name) else {
            throw RemoteDataError(status: 404)
        }
        return RemoteDataResponse(.body(data))
    }

    private func current(_ name: String) throws -> Data? {
        let file = folder.appending(path: "served/\(name)")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try AtomicFile.read(file, maximumBytes: 1 << 20)
    }
}
#endif
