import Crypto
import Foundation
import Holdfast
import HoldfastSigning

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

/// The cost of a challenge answer compared to one signature, which is its minimum.
struct ChallengeSection {
    private let settings: BenchmarkSettings
    private let folder: URL

    private static let challenge = "AAECAwQFBgcICQoLDA0ODw=="
    /// The number of entries of an app with a few hosts.
    private static let entries = 10

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    func measure(_ report: inout Report) async throws {
        report.section("Challenge answers, \(Self.entries) entries, 32 connections")
        let load = LoadGenerator(folder: folder, seconds: settings.seconds)
        let key = SigningKey()
        let app = try Self.app(key)
        let snapshot = PublishedSnapshot(sequence: 1, documents: [:], apps: [app.content.app: app])
        var (cost, answers): (Double, LoadGenerator.Result?) = (0, nil)
        try await ListeningServer.run(snapshot) { port in
            let (url, headers) = (
                "http://127.0.0.1:\(port)/app/init?appName=bank", ["X-Cert-Pinning-Challenge: \(Self.challenge)"]
            )
            _ = try await LoadGenerator(folder: folder, seconds: 1).load(url, headers: headers)
            let before = ProcessorTime.own
            let result = try await load.load(url, headers: headers)
            cost = (ProcessorTime.own - before) / Double(max(1, result.requests))
            answers = result
        }
        let signature = try bareSignature(app)
        report.compare(
            "processor time of an answer", Report.time(cost),
            beside: "bare P-256 signature: \(Report.time(signature))", ratio: cost / signature, most: 3)
        if let answers {
            report.state("answers in a second", String(format: "%.0f", answers.perSecond))
            report.state("99 of 100 answers within", Report.time(answers.p99))
        }
    }

    /// An app that answers challenges.
    static func app(_ key: SigningKey) throws -> PublishedSnapshot.App {
        let now = ListeningServer.now
        let entries = try (0..<Self.entries).map { number in
            try FingerprintEntry(
                name: "h\(number).example.com",
                pin: Pin(subject: .certificate, digest: Digest(of: [UInt8(number)]).bytes),
                until: Date(timeIntervalSince1970: TimeInterval(now + 86_400)))
        }
        let content = try Content(app: AppName("bank"), hosts: [], formats: [], end: now + 86_400)
        return PublishedSnapshot.App(
            generation: 1, content: AnsweredContent(content), entries: entries, publicKey: try key.publicKey.base64,
            key: key)
    }

    /// A signature by swift-crypto over as many bytes as the server signs, in this run, with nothing else.
    private func bareSignature(_ app: PublishedSnapshot.App) throws -> Double {
        let key = P256.Signing.PrivateKey()
        let message = [UInt8](repeating: 0x61, count: Self.challenge.utf8.count + 40 + app.parts.fingerprints.count)
        func round(_ seconds: Double) throws -> Double {
            let before = ProcessorTime.own
            var count = 0
            repeat {
                for _ in 0..<100 { _ = try key.signature(for: message) }
                count += 100
            } while ProcessorTime.own - before < seconds
            return (ProcessorTime.own - before) / Double(count)
        }
        _ = try round(0.2)
        return try round(1)
    }
}
