import Foundation
import Holdfast
import HoldfastReports
import HoldfastTesting
import Testing

/// A server whose key is pinned, another one that stands in its place, and what tells about them.
struct ReportScene {
    static let collector = "https://reports.example.net/pins"

    let clock: ManualClock
    let root: TestAuthority
    let leaf: TestCertificate
    let impostor: TestCertificate
    let sender = RecordingSender()
    let store = InMemoryDataStore()

    init(host: String = "api.example.com", at time: String = "2026-11-26T12:00:00Z") throws {
        clock = ManualClock(now: try Date(time, strategy: .iso8601))
        root = try TestAuthority.root(clock: clock)
        leaf = try root.leaf(names: [.dns(host)])
        impostor = try root.impersonate(leaf)
    }

    // MARK: What is pinned

    /// A pin file in which one host has the key of the leaf.
    func pinFile(
        _ host: String = "api.example.com", enforcement: PinSet.Enforcement = .enforce,
        issuedAt: String = "2026-11-21T12:00:00Z", candidate: Pin? = nil, until notAfter: String? = nil,
        afterExpiry: PinSet.ExpiryAction = .reject, report: PinFile.Report? = ReportScene.report()
    ) throws -> PinFile {
        var pins = [
            try PinFile.KeyPin(Pin.publicKey(of: leaf.der)),
            try PinFile.KeyPin(Pin(subject: .publicKey, digest: [UInt8](repeating: 7, count: 32)), state: .backup),
        ]
        if let candidate { pins.append(try PinFile.KeyPin(candidate, state: .candidate)) }
        return try PinFile(
            app: "com.example.bank", issuedAt: Date(issuedAt, strategy: .iso8601),
            notAfter: notAfter.map { try Date($0, strategy: .iso8601) },
            hosts: [
                PinFile.Host(
                    HostPattern(host), enforcement: enforcement, afterExpiry: afterExpiry, pins: pins, report: report)
            ])
    }

    static func report(
        to url: String = ReportScene.collector, failures: Int = 1_000_000, successes: Int = 1_000_000
    ) -> PinFile.Report? {
        guard let failures = PinFile.Fraction(millionths: failures),
            let successes = PinFile.Fraction(millionths: successes)
        else { return nil }
        return try? PinFile.Report(url: url, failureFraction: failures, successFraction: successes)
    }

    func manager(_ file: PinFile) -> TrustManager {
        PolicyLog.$shared.withValue(RecordingLog().policyLog) { TrustManager(file, clock: clock) }
    }

    // MARK: What tells

    func configuration(_ destinations: [String] = [ReportScene.collector]) throws -> ReportConfiguration {
        var configuration = ReportConfiguration(
            destinations: try destinations.map { try #require(URL(string: $0)) }, application: "com.example.bank",
            version: "5.1")
        configuration.sender = sender
        configuration.store = store
        configuration.clock = clock
        return configuration
    }

    /// A reporter that waits for ``TrustReporter/send()``: a failure is not due before the test is over.
    func reporter(
        _ configuration: ReportConfiguration, spread: Duration = .seconds(3_600), word: UInt64 = 0
    ) throws -> TrustReporter {
        try TrustReporter(
            configuration, spread: spread, sleepingOn: NeverClock(), generator: ConstantWords(word: word))
    }

    // MARK: What happens

    func trust(_ certificate: TestCertificate, host: String = "api.example.com", port: Int? = 443) throws -> ServerTrust
    {
        ServerTrust(
            certificates: certificate.chain, host: try DialedHost(host, port: port),
            anchors: try TrustAnchors(der: [root.root]))
    }
}

/// On it a nap ends only when it is canceled.
struct NeverClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        try Task.checkCancellation()
    }
}
