import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastReports

@Suite("Reports of a manager's decisions", .timeLimit(.minutes(15)))
struct TrustReporterTests {
    private let scene: ReportScene

    init() throws { scene = try ReportScene() }

    private func manager() throws -> TrustManager { scene.manager(try scene.pinFile()) }

    private func fail(_ manager: TrustManager, times: Int = 1) throws {
        for _ in 0..<times { _ = manager.evaluate(try scene.trust(scene.impostor)) }
    }

    // MARK: Reporting

    @Test("One line reports a failure, to the destination that the application named, once")
    func oneLine() async throws {
        let manager = try manager()
        let reporter = try scene.reporter(try scene.configuration())
        try reporter.observe(manager)
        try fail(manager, times: 3)
        _ = manager.evaluate(try scene.trust(scene.leaf))
        await reporter.send()
        let upload = try #require(scene.sender.uploads.first)
        #expect(scene.sender.uploads.count == 1)
        #expect(upload.url.absoluteString == ReportScene.collector && upload.contentType == "application/json")
        let body = try JSONValue.object(upload.body)
        #expect(body["failure"] == .text("pinMismatch") && body["outcome"] == .text("rejected"))
        #expect(body["hostname"] == .text("api.example.com"))
        #expect(body["document-version"] == .text("20261121T120000Z"))
        #expect(reporter.pendingReports == 0 && reporter.lastError == nil)
    }

    @Test("A failure is sent without anybody's asking")
    func byItself() async throws {
        let manager = try manager()
        try TrustReporter(try scene.configuration(), spread: .zero).observe(manager)
        try fail(manager)
        var sent = scene.sender.sent.makeAsyncIterator()
        #expect(await sent.next()?.url.absoluteString == ReportScene.collector)
    }

    @Test("A failure that comes while the reporter waits wakes it")
    func wakes() async throws {
        let manager = try manager()
        let reporter = try TrustReporter(
            try scene.configuration(), spread: .zero, sleepingOn: NeverClock(), generator: ConstantWords())
        try reporter.observe(manager)
        var sent = scene.sender.sent.makeAsyncIterator()
        try fail(manager)
        _ = await sent.next()
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        _ = manager.evaluate(try scene.trust(try stranger.leaf(names: ["api.example.com"])))
        let second = try #require(await sent.next())
        #expect(try JSONValue.object(second.body)["failure"] == .text("unknownIssuer"))
    }

    @Test("Network Error Logging has its media type, and each shape its own body")
    func shapes() async throws {
        for shape in ReportShape.allCases {
            let scene = try ReportScene()
            var configuration = try scene.configuration()
            configuration.shape = shape
            let reporter = try scene.reporter(configuration)
            let manager = scene.manager(try scene.pinFile())
            try reporter.observe(manager)
            _ = manager.evaluate(try scene.trust(scene.impostor))
            await reporter.send()
            let upload = try #require(scene.sender.uploads.first)
            #expect(upload.contentType == shape.contentType)
            #expect((upload.body.first == UInt8(ascii: "[")) == (shape == .networkErrorLogging))
        }
    }

    @Test("Nothing in a report tells one device, user or request from another")
    func privacy() async throws {
        let host = "alice-7f3a.users.example.com"
        let scene = try ReportScene(host: host)
        let manager = scene.manager(try scene.pinFile("**.users.example.com"))
        for shape in ReportShape.allCases {
            var configuration = try scene.configuration()
            configuration.shape = shape
            configuration.storageKey = shape.rawValue
            let reporter = try scene.reporter(configuration)
            let token = try reporter.observe(manager)
            _ = manager.evaluate(try scene.trust(scene.impostor, host: host))
            await reporter.send()
            manager.removeObserver(token)
        }
        #expect(scene.sender.uploads.count == 3)
        for upload in scene.sender.uploads {
            let text = String(decoding: upload.body, as: UTF8.self)
            #expect(text.contains("**.users.example.com") && !text.contains("alice"))
            // No chain was asked for.
            #expect(!text.contains("BEGIN CERTIFICATE"))
            #expect(!text.contains(ProcessInfo.processInfo.hostName) || ProcessInfo.processInfo.hostName.utf8.count < 4)
        }
    }

    @Test("The callback gets each report that is new today, also without a destination")
    func callback() throws {
        let reports = Lock<[TrustReport]>([])
        var configuration = try scene.configuration([])
        configuration.onReport = { report in reports.withLock { $0.append(report) } }
        let manager = try manager()
        let reporter = try scene.reporter(configuration)
        try reporter.observe(manager)
        try fail(manager, times: 2)
        let all = reports.withLock { $0 }
        #expect(all.count == 1 && reporter.pendingReports == 0)
        let report = try #require(all.first)
        #expect(report.failure.code == .pinMismatch && report.failure.chain != nil && report.outcome == .rejected)
        #expect(report.host == "api.example.com" && report.documentVersion == "20261121T120000Z")
        #expect(report.time == scene.clock.now)
        #expect(try JSONValue.object(report.body(as: .trustKit))["validation-result"] == .number(1))
    }

    // MARK: Configuration

    @Test("A destination that a pin covers is refused, and the error names both")
    func covered() throws {
        let reporter = try scene.reporter(try scene.configuration(["https://api.example.com/reports"]))
        let error = try #require(
            throws: ReportingError.self, performing: { _ = try reporter.observe(try manager()) })
        #expect(error.code == .coveredDestination)
        #expect(error.found.contains("https://api.example.com") && error.found.contains("pins of api.example.com"))
        let pattern = scene.manager(try scene.pinFile("**.example.com"))
        let other = try scene.reporter(try scene.configuration(["https://reports.example.com/"]))
        let second = try #require(throws: ReportingError.self, performing: { _ = try other.observe(pattern) })
        #expect(second.found.contains("reports.example.com") && second.found.contains("**.example.com"))
        // A policy without pins covers it with nothing that could break.
        let standard = TrustManager(policies: [StandardPolicy(host: try HostPattern("**.example.com"))])
        #expect(throws: Never.self) { _ = try other.observe(standard) }
    }

    @Test("A pin that covers a destination later stops reports to it")
    func coveredLater() async throws {
        let manager = try manager()
        let reporter = try scene.reporter(try scene.configuration())
        try reporter.observe(manager)
        try fail(manager)
        manager.add(policies: try scene.pinFile("**.example.net").policies())
        await reporter.send()
        #expect(scene.sender.uploads.isEmpty)
        #expect(reporter.lastError?.code == .coveredDestination && reporter.pendingReports == 1)
    }

    @Test(
        "Settings that make no sense are refused",
        arguments: [
            "http://reports.example.net/", "https://user@reports.example.net/", "ftp://reports.example.net/",
            "reports.example.net",
        ])
    func destinations(_ text: String) throws {
        let configuration = try scene.configuration([text])
        let error = #expect(throws: ReportingError.self) { try TrustReporter(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("An application, a version or a fraction outside of its bounds is refused")
    func settings() throws {
        let changes: [(inout ReportConfiguration) -> Void] = [
            { $0.application = "" }, { $0.application = String(repeating: "a", count: 256) },
            { $0.version = "5.1\n" }, { $0.version = String(repeating: "1", count: 33) },
            { $0.failureFraction = 1.1 }, { $0.successFraction = .nan },
            { $0.destinations = [URL](repeating: $0.destinations[0], count: 9) },
        ]
        for change in changes {
            var configuration = try scene.configuration()
            change(&configuration)
            let error = #expect(throws: ReportingError.self) { try TrustReporter(configuration) }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("Hosts of no pin file follow the fractions of the configuration")
    func fractions() async throws {
        let pins = try PinSet(pins: [Pin.publicKey(of: scene.leaf.der)])
        let policy = try PinnedPolicy(host: HostPattern("api.example.com"), pins: pins)
        for fraction in [0.0, 1.0] {
            var configuration = try scene.configuration()
            configuration.failureFraction = fraction
            let manager = TrustManager(policies: [policy], clock: scene.clock)
            let reporter = try scene.reporter(configuration)
            try reporter.observe(manager)
            try fail(manager)
            #expect(reporter.pendingReports == Int(fraction))
        }
    }

    @Test("Without more than its destinations and the application a configuration has the usual settings")
    func defaults() throws {
        let configuration = ReportConfiguration(destinations: [], application: "com.example.bank", version: "5.1")
        #expect(configuration.shape == .pinValidation && configuration.sendsSummaries)
        #expect(!configuration.includesChains && !configuration.namesHostsOfPatterns)
        #expect(configuration.failureFraction == 1 && configuration.successFraction == 0)
        #expect(configuration.sender is URLSessionReportSender && configuration.clock is SystemWallClock)
        let store = try #require(configuration.store as? FileDataStore)
        #expect(store.folder == FileDataStore.defaultFolder && store.maximumBytes == 64 << 20)
        #expect(configuration.storageKey == "reports" && configuration.onReport == nil)
    }

    @Test("A host under a pattern is named, and the chain told, only if that is switched on")
    func namesAndChains() async throws {
        let host = "alice-7f3a.users.example.com"
        for (names, chains) in [(true, false), (false, true)] {
            let scene = try ReportScene(host: host)
            var configuration = try scene.configuration()
            configuration.namesHostsOfPatterns = names
            configuration.includesChains = chains
            let manager = scene.manager(try scene.pinFile("**.users.example.com"))
            let reporter = try scene.reporter(configuration)
            try reporter.observe(manager)
            _ = manager.evaluate(try scene.trust(scene.impostor, host: host))
            await reporter.send()
            let body = String(decoding: try #require(scene.sender.uploads.first).body, as: UTF8.self)
            #expect(body.contains("alice") == names && body.contains("BEGIN CERTIFICATE") == chains)
        }
    }

    @Test("What was counted is sent after the day, unless that is switched off")
    func summaries() async throws {
        for isSent in [nil, true, false] as [Bool?] {
            let scene = try ReportScene()
            var configuration = try scene.configuration()
            if let isSent { configuration.sendsSummaries = isSent }
            let manager = scene.manager(try scene.pinFile())
            let reporter = try scene.reporter(configuration)
            try reporter.observe(manager)
            _ = manager.evaluate(try scene.trust(scene.leaf))
            scene.clock.advance(by: .seconds(2 * 86_400))
            await reporter.send()
            #expect(scene.sender.uploads.count == (isSent == false ? 0 : 1))
        }
    }

    @Test("Successes with hosts of no pin file are counted by the fraction of the configuration, by default none")
    func successes() async throws {
        for fraction in [nil, 0, 1] as [Double?] {
            let scene = try ReportScene()
            let policy = try PinnedPolicy(
                host: HostPattern("api.example.com"), pins: PinSet(pins: [Pin.publicKey(of: scene.leaf.der)]))
            var configuration = try scene.configuration()
            if let fraction { configuration.successFraction = fraction }
            let manager = TrustManager(policies: [policy], clock: scene.clock)
            let reporter = try scene.reporter(configuration)
            try reporter.observe(manager)
            _ = manager.evaluate(try scene.trust(scene.leaf))
            scene.clock.advance(by: .seconds(2 * 86_400))
            await reporter.send()
            #expect(scene.sender.uploads.count == (fraction == 1 ? 1 : 0))
        }
    }

    @Test("An address in a pin file that the application did not name gets nothing, and the problem is told")
    func unnamed() async throws {
        let manager = scene.manager(try scene.pinFile(report: ReportScene.report(to: "https://evil.example/")))
        let reporter = try scene.reporter(try scene.configuration())
        try reporter.observe(manager)
        try fail(manager)
        await reporter.send()
        #expect(scene.sender.uploads.isEmpty && reporter.lastError?.code == .unnamedDestination)
    }

    // MARK: Restarts

    @Test(
        "What was not sent is sent after a restart, from files as well, and what was reported today is not reported again"
    )
    func restart() async throws {
        try await withTemporaryFolder { folder in
            var configuration = try scene.configuration()
            configuration.store = FileDataStore(folder: folder)
            let manager = try manager()
            scene.sender.answer { _ in ReportAnswer(status: 503) }
            let first = try scene.reporter(configuration)
            let token = try first.observe(manager)
            try fail(manager)
            await first.send()
            #expect(first.lastError?.code == .notSent && scene.sender.uploads.count == 1)
            manager.removeObserver(token)
            // Longer than after one failure, and shorter than until it is due without ``TrustReporter/send()``.
            scene.clock.advance(by: .seconds(60))
            scene.sender.answer { _ in ReportAnswer(status: 200) }
            let second = try scene.reporter(configuration)
            try second.observe(manager)
            #expect(second.pendingReports == 1)
            try fail(manager)
            await second.send()
            #expect(scene.sender.uploads.count == 2 && second.pendingReports == 0)
            let third = try scene.reporter(configuration)
            try third.observe(manager)
            try fail(manager)
            await third.send()
            #expect(scene.sender.uploads.count == 2)
        }
    }

    @Test("A report under way is not in what is stored: a process that ends then does not send it twice")
    func underWay() async throws {
        let stored = Lock<Int?>(nil)
        let store = scene.store
        scene.sender.answer { _ in
            let ledger = store.loadData(forKey: "reports").flatMap(StoredLedger.read)
            stored.withLock { $0 = ledger?.pending.count }
            throw ReportSendingError(.connectionFailed, expected: "an answer", found: "none")
        }
        let manager = try manager()
        let reporter = try scene.reporter(try scene.configuration())
        try reporter.observe(manager)
        try fail(manager)
        await reporter.send()
        #expect(stored.withLock { $0 } == 0)
        #expect(store.loadData(forKey: "reports").flatMap(StoredLedger.read)?.pending.count == 1)
    }

    @Test("A destination that is no longer named gets nothing of what was kept for it")
    func renamed() async throws {
        let manager = try manager()
        scene.sender.answer { _ in ReportAnswer(status: 503) }
        let first = try scene.reporter(try scene.configuration())
        try first.observe(manager)
        try fail(manager)
        await first.send()
        let second = try scene.reporter(try scene.configuration(["https://other.example.net/"]))
        #expect(second.pendingReports == 0)
    }

    private final class FullStore: SecureDataStore {
        func save(data: Data, forKey key: String) -> Bool { false }
        func loadData(forKey key: String) -> Data? { nil }
        func removeData(forKey key: String) {}
    }

    @Test("A store that refuses is told, and reports are sent all the same")
    func fullStore() async throws {
        var configuration = try scene.configuration()
        configuration.store = FullStore()
        let manager = try manager()
        let reporter = try scene.reporter(configuration)
        try reporter.observe(manager)
        try fail(manager)
        await reporter.send()
        #expect(scene.sender.uploads.count == 1 && reporter.lastError?.code == .notStored)
    }

    // MARK: Collectors

    @Test(
        "A report that the collector refuses is dropped; one that it does not take is kept",
        arguments: [
            (200, 0), (204, 0), (400, 0), (404, 0), (410, 0), (408, 1), (429, 1), (500, 1), (503, 1), (302, 1),
            (100, 1),
        ])
    func statuses(status: Int, pending: Int) async throws {
        scene.sender.answer { _ in ReportAnswer(status: status) }
        let manager = try manager()
        let reporter = try scene.reporter(try scene.configuration())
        try reporter.observe(manager)
        try fail(manager)
        await reporter.send()
        #expect(reporter.pendingReports == pending && scene.sender.uploads.count == 1)
        #expect((reporter.lastError == nil) == (200..<300).contains(status))
    }

    @Test("The manager keeps the reporter, and nobody else does")
    func released() throws {
        weak var released: TrustReporter?
        do {
            let manager = try manager()
            let reporter = try scene.reporter(try scene.configuration())
            try reporter.observe(manager)
            released = reporter
        }
        #expect(released == nil)
    }
}
