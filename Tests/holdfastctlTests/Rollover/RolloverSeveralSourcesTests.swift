import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl rollover of several documents", .timeLimit(.minutes(15)))
struct RolloverSeveralSourcesTests {
    private struct Line: Decodable {
        let host: String
        let step: String
        let action: String?
        let premises: [String]?
    }

    private static func list(_ site: SigningSite, _ name: String, _ certificates: TestCertificate...) throws {
        let end = SystemWallClock().now.addingTimeInterval(80 * 86_400)
        let entries = try certificates.map {
            try FingerprintEntry(name: name, pin: .certificate($0.der), until: end)
        }
        try site.write("pins.json", String(decoding: try PinListDraft(entries).signed(by: site.key), as: UTF8.self))
    }

    @Test("A list for older apps and a repository with two roots: a step is advised if the clients of each get in")
    func listAndRepository() async throws {
        try await SigningSite.with { site in
            var begun = try await PublishedRepository(in: site)
            try await begun.rotate()
            let repository = begun
            let (leaf, backup) = (repository.leaf, repository.backup)
            try await withLoopbackTLSServer(serving: leaf) { server in
                try await repository.served { url in
                    func lines(_ more: [String] = []) async throws -> [Line] {
                        let run = try await site.run(
                            [
                                "rollover", "--repository", url, "--app-root", "site/public/metadata/1.root.json",
                                "--app-root", "site/public/metadata/2.root.json", "--list", "pins.json",
                                "--public-key", site.publicKey, "--next", "b.pem", "--no-shipped-pins", "--ca",
                                "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--json",
                            ] + more)
                        #expect(run.status == 0, "\(run.output)\(run.errors)")
                        return try run.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
                    }
                    let week = ["--published", "\(SystemWallClock().now.wholeSeconds - 8 * 86_400)"]
                    // The repository has the next key, and the list lacks its certificate.
                    try Self.list(site, SigningSite.name, leaf)
                    let missing = try #require(try await lines(week).first)
                    #expect(missing.step == "publishNext", "\(missing)")
                    #expect(
                        missing.action?.contains("holdfastctl sign b.pem --key signer.pem --list pins.json") == true)
                    #expect(missing.action?.contains("add the pin to the repository's pin file") == true)

                    try Self.list(site, SigningSite.name, leaf, backup)
                    let ready = try await lines(week)
                    #expect(ready.map(\.step) == ["deploy"], "\(ready)")
                    for name in ["pins.json has been published since", "the repository \(url) has been published"] {
                        #expect(ready[0].premises?.contains { $0.contains(name) } == true, "\(name): \(ready)")
                    }
                    // No deployment before the clients of both have had their time, which is the same.
                    let day = ["--published", "\(SystemWallClock().now.wholeSeconds - 86_400)"]
                    #expect(try await lines(day).map(\.step) == ["wait"])

                    // Clients of a list that does not name the host do not connect there with it.
                    try Self.list(site, "other.example.com", leaf)
                    let other = try await lines(week + [SigningSite.name])
                    #expect(other.map(\.step) == ["deploy"], "\(other)")
                    #expect(
                        other[0].premises?.contains { $0.hasPrefix("pins.json does not name www.example.com") } == true)
                }
            }
        }
    }
}
