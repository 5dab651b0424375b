import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A log list that renews itself", .timeLimit(.minutes(15)))
struct TransparencyLogStoreTests {
    private let clock = ManualClock(now: Judge.now)
    private let provider = ScriptedProvider()
    private let storage = InMemoryDataStore()
    private let log = RecordingLog()
    private let key: TestKey
    private let shipped: TransparencyLogList
    private let listURL: URL
    private let signatureURL: URL

    init() throws {
        key = try TestKey()
        shipped = TransparencyLogList([], issuedAt: Judge.now.addingTimeInterval(-10 * 86_400))
        listURL = try #require(URL(string: "https://logs.example.com/log_list.json"))
        signatureURL = try #require(URL(string: "https://logs.example.com/log_list.sig"))
    }

    private func configuration() throws -> TransparencyLogConfiguration {
        var configuration = TransparencyLogConfiguration(
            listURL: listURL, signatureURL: signatureURL,
            key: try SubjectPublicKeyInfo(der: key.subjectPublicKeyInfoDER), shipped: shipped)
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        return configuration
    }

    private func store(
        _ change: (inout TransparencyLogConfiguration) -> Void = { _ in }
    ) throws -> TransparencyLogStore {
        var configuration = try configuration()
        change(&configuration)
        return try TransparencyLogStore(checking: configuration, clock: clock, logger: log.logger)
    }

    /// Publishes a list with one log, so many days before now.
    private func publish(
        daysAgo days: Double, signedBy signer: TestKey? = nil, behind gate: Gate? = nil
    ) throws -> [UInt8] {
        let log = try TestTransparencyLog()
        let date = Date(wholeSeconds: clock.now.addingTimeInterval(-days * 86_400).wholeSeconds)
        var list = try TestLogList(issuedAt: date, key: .existing(signer ?? key))
        list.operators = ["One": [TestLogList.Entry(log)]]
        let (json, signature, isList) = (list.json, try list.signature(), listURL)
        provider.answer { request in
            await gate?.wait()
            return RemoteDataResponse(.body(request.url == isList ? json : signature))
        }
        return log.identifier
    }

    /// The list of now; an update that using it has started has ended.
    private func current(_ store: TransparencyLogStore) async -> TransparencyLogList {
        let list = store.current
        store.noteUse()
        await settle(store)
        return list
    }

    private func settle(_ store: TransparencyLogStore) async {
        _ = await store.documents.state.withLock { $0.underWay }?.value
    }

    private func fail() { provider.answer { _ in throw RemoteDataError(status: 503) } }

    private func identifiers(_ store: TransparencyLogStore) async -> [[UInt8]] {
        await current(store).logs.map(\.identifier)
    }

    private func updateError(_ store: TransparencyLogStore) async -> StoreError? {
        do throws(StoreError) {
            try await store.update(mode: .forced)
            return nil
        } catch {
            return error
        }
    }

    @Test("The shipped list counts until a newer one was downloaded and verified; then that one, after a restart too")
    func renewal() async throws {
        let store = try store()
        #expect(await current(store) == shipped)
        let first = try publish(daysAgo: 1)
        #expect(await updateError(store) == nil)
        #expect(await identifiers(store) == [first])
        #expect(provider.requests.suffix(2).map(\.url) == [listURL, signatureURL])
        fail()
        #expect(try await identifiers(self.store()) == [first])
        // A newer application ships a newer list.
        let newer = TransparencyLogList([], issuedAt: Judge.now)
        #expect(try await current(self.store { $0.shipped = newer }) == newer)
        store.reset()
        #expect(await current(store) == shipped)
        #expect(try await current(self.store()) == shipped)
    }

    @Test("A list that another key signed, or that is older than one that is there, changes nothing")
    func refused() async throws {
        let store = try store()
        let good = try publish(daysAgo: 2)
        #expect(await updateError(store) == nil)
        _ = try publish(daysAgo: 1, signedBy: TestKey())
        #expect(await updateError(store)?.code == .invalidSignature)
        _ = try publish(daysAgo: 3)
        #expect((await updateError(store)?.underlying as? DocumentError)?.code == .issuedBeforeNewest)
        fail()
        #expect(await updateError(store)?.code == .networkError)
        #expect(await identifiers(store) == [good])
        store.reset()
        _ = try publish(daysAgo: 11)
        #expect((await updateError(store)?.underlying as? DocumentError)?.code == .issuedBeforeNewest)
        #expect(await current(store) == shipped)
    }

    @Test("What is stored is verified again, and counts for its own addresses and key alone")
    func stored() async throws {
        let first = try publish(daysAgo: 1)
        #expect(try await updateError(store()) == nil)
        fail()
        let other = try SubjectPublicKeyInfo(der: TestKey().subjectPublicKeyInfoDER)
        #expect(try await current(store { $0.key = other }) == shipped)
        let format = TransparencyLogFormat(configuration: try configuration())
        var record = try #require(storage.loadData(forKey: format.storageKey).flatMap { StoredRecord($0) })
        record.body.append(0x20)
        #expect(storage.save(data: record.data, forKey: format.storageKey))
        let damaged = try store()
        #expect(damaged.storageError?.code == .damagedStorage)
        #expect(await current(damaged) == shipped)
        record.body.removeLast()
        #expect(storage.save(data: record.data, forKey: format.storageKey))
        #expect(try await identifiers(store()) == [first])
    }

    @Test("A list of the future is young for no longer than a day more than one of now")
    func future() async throws {
        let store = try store()
        _ = try publish(daysAgo: -1_000)
        #expect(await updateError(store) == nil)
        #expect(await current(store).issuedAt == clock.now.addingTimeInterval(86_400))
    }

    @Test("An update that is due begins when a decision is handed out, which waits for none")
    func background() async throws {
        let store = try store()
        let gate = Gate()
        let first = try publish(daysAgo: 1, behind: gate)
        #expect(store.current == shipped && !store.documents.isUpdating)
        store.noteUse()
        #expect(store.current == shipped && store.documents.isUpdating)
        gate.open()
        await settle(store)
        #expect(await identifiers(store) == [first])
        let count = provider.requests.count
        #expect(await identifiers(store) == [first] && provider.requests.count == count)
        #expect(store.nextUpdate > clock.now)
        clock.advance(by: .seconds(86_400))
        let second = try publish(daysAgo: 0)
        _ = await current(store)
        #expect(await identifiers(store) == [second])
    }

    @Test("Validators take a store as they take a list, and each validation asks for the list of its moment")
    func validation() async throws {
        var scene = try TransparencyScene()
        scene.issuedAt = Judge.now
        let store = try store()
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [scene.root.root]), transparency: .required(store),
            cache: VerifiedPathCache())
        let leaf = try scene.leaf(of: [0, 2])
        let purpose = ValidationPurpose.server(identity: try DialedHost(Judge.host))
        func code() -> TrustFailure.Code? {
            validator.validate(PresentedChain(leaf.chain), for: purpose, at: Judge.now) { _ in true }.failure?.code
        }
        #expect(code() == .notTransparent)
        var list = try TestLogList(issuedAt: Judge.now, key: .existing(key))
        for one in scene.entries { list.operators[one.operatorName, default: []].append(one.entry) }
        let (json, signature, isList) = (list.json, try list.signature(), listURL)
        provider.answer { request in RemoteDataResponse(.body(request.url == isList ? json : signature)) }
        #expect(await updateError(store) == nil)
        #expect(code() == nil)
    }

    @Test("A configuration that cannot be meant is refused")
    func configurations() throws {
        for change: (inout TransparencyLogConfiguration) -> Void in [
            { $0.updateInterval = .zero }, { $0.updateTimeout = .zero },
        ] {
            #expect(throws: StoreError.self) { try store(change) }
        }
    }
}
