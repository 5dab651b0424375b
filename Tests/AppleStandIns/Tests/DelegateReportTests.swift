import Foundation
import FoundationNetworking
import Holdfast
import HoldfastReports
import HoldfastTesting
import Security
import Testing

@Suite("Reports of a pinned session's delegate")
struct DelegateReportTests {
    private let session = URLSession(configuration: .ephemeral)

    private func ask(_ delegate: PinnedSessionDelegate, _ challenge: URLAuthenticationChallenge) async -> Answer {
        await answer { delegate.urlSession(session, didReceive: challenge, completionHandler: $0) }
    }

    @Test("A server that the delegate refuses is reported once, with the chain that the system has built")
    func refused() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let collector = try #require(URL(string: ReportScene.collector))
        let sender = RecordingSender()
        var configuration = ReportConfiguration(
            destinations: [collector], application: "com.example.bank", version: "5.1")
        configuration.includesChains = true
        configuration.sender = sender
        configuration.store = InMemoryDataStore()
        let reporter = try TrustReporter(
            configuration, spread: .seconds(3_600), sleepingOn: NeverClock(), generator: ConstantWords(word: .max))
        try reporter.observe(fixture.manager)
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        for _ in 0..<2 {
            #expect(await ask(delegate, fixture.challenge(fixture.secTrust(impostor.chain))) == .cancelled)
        }
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
        await reporter.send()
        #expect(sender.uploads.map(\.url) == [collector])
        let body = try #require(try sender.bodies().first)
        #expect(body["failure"] == .text("pinMismatch") && body["hostname"] == .text(fixture.host))
        let served = try #require(body["served-certificate-chain"]?.array?.first?.text)
        #expect(try PEMBlocks.read(Data(served.utf8)).map { try $0.content.get() } == [impostor.der])
    }

    @Test("The sender that applications have by default sends nothing without TLS")
    func plain() async throws {
        let url = try #require(URL(string: "http://localhost/reports"))
        let error = await #expect(throws: ReportSendingError.self) {
            try await URLSessionReportSender().send(
                ReportUpload(url: url, contentType: "application/json", body: Data("{}".utf8)))
        }
        #expect(error?.code == .insecureURL)
    }
}
