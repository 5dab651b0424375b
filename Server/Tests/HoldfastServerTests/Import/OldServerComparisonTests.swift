import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// An old server in Python, which reads the tables by itself, beside a server that has taken them over.
@Suite(
    "Comparing with an old server that shares no code", .timeLimit(.minutes(60)),
    .needs(.cryptography))
struct OldServerComparisonTests {
    private func comparison(_ old: OldUtilityServer, _ app: AppName, _ world: World) async throws -> ServerComparison {
        try await OldServerProgram.listening(with: old, in: world) { port in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            return try await ServerComparison(of: app, on: world.publisher, with: OtherServer(url))
        }
    }

    private func takenOver(_ old: OldUtilityServer, _ world: World) async throws -> AppName {
        var generator = SystemRandomNumberGenerator()
        let rules = Publisher.TakeoverRules(
            settings: try AppSettings(canary: 0, anchors: [world.root.root], builds: []), forced: [.lint],
            proposer: nil,
            reason: "a test", by: "operator")
        let proposal = try #require(
            try await world.publisher.takeOver(old.takeover(at: world.now), rules, using: &generator).first)
        return try await world.catalog.change(proposal.change).content.app
    }

    private func letsIn(
        _ certificate: TestCertificate, _ old: OldUtilityServer, _ world: World, from port: Int
    ) async throws -> Bool {
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "http://127.0.0.1:\(port)/app/init?appName=\(old.name)")),
                publicKey: old.publicKey, useChallenge: true),
            secureDataStore: InMemoryDataStore(),
            remoteDataProvider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true), clock: world.clock,
            logger: AdministrationSite.quiet)
        let update = try await store.update(mode: .forced)
        #expect(update.error == nil, "\(update)")
        return try world.letsIn(certificate, store.policy(for: World.host))
    }

    /// As the tables are of a server of version 1, and of version 2 with its depths and domains that need no pins.
    private func servers(_ world: World) throws -> [OldUtilityServer] {
        var first = try OldUtilityServer.withVectorKey()
        try first.add(world.shown)
        try first.add(world.announced)
        var second = first
        second.domains.append("img.example.com")
        second.bypassed = ["img.example.com"]
        return [first, second]
    }

    @Test("What was taken over answers as it does, whatever is asked, and apps trust the answers of both")
    func alike() async throws {
        for index in 0...1 {
            try await World.run { world in
                let old = try servers(world)[index]
                let app = try await takenOver(old, world)
                let found = try await comparison(old, app, world)
                #expect(found.isAlike && found.questions > 30, "\(found.differences)")
                try await OldServerProgram.listening(with: old, in: world) { port in
                    #expect(try await letsIn(world.shown, old, world, from: port))
                    let stranger = try world.root.leaf(names: [.dns(World.host)])
                    #expect(try await !letsIn(stranger, old, world, from: port))
                }
            }
        }
    }

    @Test("A certificate, a key, a rule, a text, a depth and a domain that differ are found, each by its name")
    func different() async throws {
        try await World.run { world in
            let old = try servers(world)[1]
            let app = try await takenOver(old, world)
            func finds(_ words: String, _ change: (inout OldUtilityServer) throws -> Void) async throws {
                var other = old
                try change(&other)
                let found = try await comparison(other, app, world)
                #expect(found.differences.contains { $0.contains(words) }, "\(words): \(found.differences)")
            }
            try await finds("only this server names it") { $0.certificates.removeLast() }
            try await finds("it expires at") { $0.certificates[0].expires -= 1 }
            try await finds("only the other server names it") { $0.certificates[0].depth = 1 }
            try await finds("the signature of the other server is not by the key") {
                let key = try OldUtilityServer(SigningKey())
                ($0.privateKey, $0.publicKey) = (key.privateKey, key.publicKey)
            }
            try await finds("publicKey: they differ") { $0.publicKey = try OldUtilityServer(SigningKey()).publicKey }
            try await finds("verifyVersionResult: they differ") { $0.versions[0] = "ANDROID,,2.0.1,1.0.0,update" }
            try await finds("verifyVersionResult: they differ") { $0.texts[0] = "update,en,other" }
            try await finds("domainsConfig: they differ") { $0.bypassed = [] }
            try await finds("domainsConfig: only this server says it") { $0.bypassed = nil }
            try await finds("the other server answers 404, and this one 200") { $0.name = "another" }
        }
    }
}
