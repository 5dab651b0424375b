import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

/// Outlooks of generated inputs, compared with real stores that are asked minute by minute: 20 of them, or as many as
/// `HOLDFAST_OUTLOOKS` says.
@Suite("The outlook, minute by minute", .timeLimit(.minutes(15)))
struct OutlookMinutesTests {
    private static var count: Int {
        ProcessInfo.processInfo.environment["HOLDFAST_OUTLOOKS"].flatMap { Int($0) } ?? 20
    }

    /// Counts of the comparisons.
    private struct Tally {
        var changes = 0
        var minutes = 0
        var outs = 0

        mutating func add(_ other: Tally) {
            changes += other.changes
            minutes += other.minutes
            outs += other.outs
        }
    }

    @Test("An outlook says for every minute what the clients' own stores decide")
    func everyMinute() async throws {
        let parts = 4
        let tally = try await withThrowingTaskGroup(of: Tally.self) { group in
            for part in 0..<parts {
                group.addTask {
                    var tally = Tally()
                    for seed in stride(from: part, to: Self.count, by: parts) {
                        tally.add(try await Self.compare(seed))
                    }
                    return tally
                }
            }
            var all = Tally()
            for try await tally in group { all.add(tally) }
            return all
        }
        // The comparison has something to say.
        #expect(tally.changes >= Self.count)
        #expect(tally.outs * 20 > tally.minutes)
        #expect(tally.outs * 20 < tally.minutes * 19)
    }

    private static func compare(_ seed: Int) async throws -> Tally {
        var tally = Tally()
        var generator = SplitMix64(seed: UInt64(seed))
        let case_ = try await OutlookCase(&generator)
        let outlook = try PublicationOutlook(judging: case_.inputs)
        for row in outlook.rows {
            guard let begins = row.start, let ends = row.end else { continue }
            tally.changes += row.spans.count - 1
            let client = try await case_.client(of: row)
            // Every minute, and both sides of every boundary that the outlook names.
            var times = stride(from: begins.timeIntervalSince1970, to: ends.timeIntervalSince1970, by: 60).map { $0 }
            times += row.spans.flatMap { [$0.start.timeIntervalSince1970, $0.end.timeIntervalSince1970 - 1] }
            for seconds in times {
                let time = Date(timeIntervalSince1970: seconds)
                let span = try #require(row.spans.last { $0.start <= time })
                let isTrusted = try await client(time)
                tally.minutes += 1
                tally.outs += isTrusted ? 0 : 1
                guard isTrusted != span.getsIn else { continue }
                Issue.record(
                    "seed \(seed), \(row.client?.rawValue ?? "") \(row.holders) at \(time): outlook \(span.getsIn)")
                return tally
            }
        }
        return tally
    }
}

/// Random inputs whose ends all fall into two hours.
private struct OutlookCase {
    let scene: OutlookScene
    let inputs: PublicationOutlook.Inputs
    private let chains: [[[UInt8]]]

    private let server: AnsweringServer

    init(_ generator: inout SplitMix64) async throws {
        func minutes(_ range: ClosedRange<Int>) -> Double {
            Double(Int.random(in: range, using: &generator)) * 60 + Double(Int.random(in: 0..<60, using: &generator))
        }
        let scene = try OutlookScene()
        var leaves: [TestCertificate] = []
        for _ in 0..<2 {
            let (begins, ends) = (minutes(-30...10), minutes(20...200))
            leaves.append(
                try scene.issuing.leaf(names: [.dns(OutlookScene.host)]) {
                    $0.notBefore = .after(.seconds(begins))
                    $0.notAfter = .after(.seconds(ends))
                })
        }
        func pinned() -> [TestCertificate] {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: [leaves[0]]
            case 1: [leaves[1]]
            default: leaves
            }
        }
        func date(_ range: ClosedRange<Int>) -> Date { OutlookScene.start.addingTimeInterval(minutes(range)) }
        var documents: [PublicationOutlook.Document] = []
        for (index, certificates) in [pinned(), pinned()].enumerated() {
            let issued = OutlookScene.start.addingTimeInterval(-3_600)
            let pins = try certificates.map {
                try PinFile.KeyPin(
                    Pin.publicKey(of: $0.der), notAfter: Bool.random(using: &generator) ? date(10...110) : nil)
            }
            let file = try PinFile(
                issuedAt: issued, notAfter: date(10...150),
                refresh: PinFile.Refresh(after: 3_600, grace: Int(minutes(0...40))),
                hosts: [
                    try PinFile.Host(
                        HostPattern(OutlookScene.host),
                        enforcement: Int.random(in: 0..<6, using: &generator) == 0 ? .reportOnly : .enforce,
                        afterExpiry: Int.random(in: 0..<4, using: &generator) == 0 ? .standardValidation : .reject,
                        pins: pins)
                ])
            documents.append(
                .init(
                    "pins \(index)", kind: .shippedPins, octets: Data(file.json), published: issued,
                    appVersions: ["\(index)"]))
        }
        let entries = try pinned().flatMap { try scene.entries([$0], until: date(5...130)) }
        documents.append(
            .init(
                "list", kind: .staticList(publicKey: try scene.listKey.publicKey.base64),
                octets: try PinListDraft(entries).signed(by: scene.listKey), published: date(-20 ... -10)))
        // Signed up to 25 hours ago: fresh, in grace, or about to end.
        let ages = [minutes(11...50), minutes(60...200), minutes(1_390...1_499)]
        let age = ages[Int.random(in: 0..<3, using: &generator)]
        documents.append(
            try scene.trustDocument(leaves[0], leaves[1], at: OutlookScene.start.addingTimeInterval(-age)))
        let answered = try pinned().flatMap { try scene.entries([$0], until: date(5...130)) }
        let asked = date(-20 ... -10)
        server = AnsweringServer(key: scene.listKey, entries: answered, time: asked)
        documents.append(try server.document(published: asked))
        let signed = date(-30 ... -10)
        let file = try PinFile(
            issuedAt: signed, notAfter: date(10...110),
            refresh: PinFile.Refresh(after: 3_600, grace: Int(minutes(0...40))),
            hosts: [
                PinFile.Host(
                    HostPattern(OutlookScene.host),
                    pins: pinned().map { try PinFile.KeyPin(.publicKey(of: $0.der)) }
                        + [PinFile.KeyPin(.publicKey(of: scene.next.der), state: .backup)])
            ])
        // Its timestamp may end first: then clients that begin get nothing.
        let bundle = try await PublishedBundle(of: file, timestamp: .seconds(Int64(minutes(40...200))), at: signed)
        documents.append(
            .init("bundle", kind: .repository(root: bundle.root), octets: bundle.bundle, published: signed))
        let change = date(5...100)
        let shown: [PublicationOutlook.Presentation] = [
            scene.shown(leaves[0], until: change),
            .init(planned: leaves[1].chain.map { Data($0) }, at: "192.0.2.1", from: change),
        ]
        chains = leaves.map(\.chain)
        inputs = PublicationOutlook.Inputs(
            documents: documents, hosts: [.init(OutlookScene.host, port: 443, shown: shown)],
            platforms: [scene.platform],
            appVersions: .versions([.init("0", usedUntil: date(60...180)), .init("1")]), span: .seconds(2 * 3_600),
            now: OutlookScene.start)
        self.scene = scene
    }

    /// The client of a row: a store that got the document when it was published, or one that begins when it is asked.
    func client(of row: PublicationOutlook.Row) async throws -> (Date) async throws -> Bool {
        let document = inputs.documents[try #require(row.document)]
        let chain = PresentedChain(chains[try #require(row.presentation)])
        let host = try DialedHost(OutlookScene.host, port: 443)
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [scene.authority.root]), cache: VerifiedPathCache())
        let trust = ServerTrust(chain: chain, purpose: .server(identity: host), validator: validator)
        let log = RecordingLog()
        switch document.kind {
        case .shippedPins:
            let policy = try PolicyLog.$shared.withValue(log.policyLog) {
                try #require(try PinFile(json: document.octets).policies().first)
            }
            return { policy.evaluate(trust, at: $0).isTrusted }
        case .staticList(let key):
            let clock = ManualClock(now: document.published)
            let store = try CertStore(
                checking: CertStoreConfiguration(serviceURL: Self.url, publicKey: key),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: OneDocument(data: document.octets),
                clock: clock, logger: log.logger)
            _ = try await store.update(mode: .forced)
            return { try Self.ask(store.policy(for: OutlookScene.host), trust, clock, $0) }
        case .trustServer(let certificate, let customer, _):
            let pinning: Pin.Subject = row.client == .trustServerCertificates ? .certificate : .publicKey
            func store(at time: Date) throws -> (TrustServerStore, ManualClock) {
                let clock = ManualClock(now: time)
                var configuration = TrustServerConfiguration(
                    url: Self.url, signer: try TrustServerSigner(certificate: certificate), customer: customer)
                configuration.remoteDataProvider = OneDocument(data: document.octets)
                configuration.secureDataStore = InMemoryDataStore()
                return (try TrustServerStore(checking: configuration, clock: clock, logger: log.logger), clock)
            }
            guard row.holders != .beginning else {
                return { time in
                    let (store, clock) = try store(at: time)
                    _ = try? await store.update(mode: .forced)
                    return try Self.ask(store.policy(for: OutlookScene.host, pinning: pinning), trust, clock, time)
                }
            }
            let (store, clock) = try store(at: document.published)
            _ = try await store.update(mode: .forced)
            return { try Self.ask(store.policy(for: OutlookScene.host, pinning: pinning), trust, clock, $0) }
        case .challengedList:
            let clock = ManualClock(now: document.published)
            let store = try server.client(clock: clock)
            _ = try await store.update(mode: .forced)
            return { try Self.ask(store.policy(for: OutlookScene.host), trust, clock, $0) }
        case .repository(let root, _):
            guard row.holders != .beginning else {
                return { time in
                    let clock = ManualClock(now: time)
                    let app = try PublishedBundle.app(root: root, bundle: document.octets, clock: clock)
                    _ = try? await app.update(mode: .forced)
                    return try Self.ask(app.policy(for: OutlookScene.host), trust, clock, time)
                }
            }
            let clock = ManualClock(now: document.published)
            let app = try PublishedBundle.app(root: root, bundle: document.octets, clock: clock)
            _ = try await app.update(mode: .forced)
            return { try Self.ask(app.policy(for: OutlookScene.host), trust, clock, $0) }
        }
    }

    private static func ask(
        _ policy: PinnedPolicy, _ trust: ServerTrust, _ clock: ManualClock, _ time: Date
    ) throws -> Bool {
        clock.set(time)
        return policy.evaluate(trust, at: time).isTrusted
    }

    private static let url = URL(filePath: "/").appending(path: "document")
}

/// Serves the same bytes to every client.
private struct OneDocument: RemoteDataProvider {
    let data: Data

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(data)) }
}
