import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import NIOHTTP1
import Synchronization
import Testing

@testable import HoldfastServer

/// An old server on loopback, beside a server that has taken its app over.
@Suite("Comparing with another server", .timeLimit(.minutes(60)))
struct ServerComparisonTests {
    /// A world that has taken an app over, and what the old server answers from.
    private struct Pair {
        let world: World
        let app: AppName
        let content: Content
        let change: RandomID
        let old: ServingSite

        init(_ world: World, key: SigningKey? = nil, lifetime: Int64 = 180 * 86_400) async throws {
            self.world = world
            var server = try OldUtilityServer.withVectorKey()
            try server.add(world.shown)
            try server.add(world.announced)
            app = try AppName(server.name)
            var generator = SystemRandomNumberGenerator()
            change = try #require(
                try await world.publisher.takeOver(
                    server.takeover(at: world.now),
                    Publisher.TakeoverRules(
                        settings: AppSettings(canary: 0, anchors: [world.root.root], builds: []), lifetime: lifetime,
                        proposer: nil, reason: "a test", by: "operator"), using: &generator
                ).first
            ).change
            content = try await world.catalog.change(change).content
            old = try key.map { ServingSite(key: $0) } ?? ServingSite()
            old.time.withLock { [now = world.now] in $0 = now }
        }

        /// What the old server says, with something changed.
        func serve(
            without certificate: TestCertificate? = nil, versions: [VersionRule]? = nil, domains: ContentDomains? = nil,
            lasting end: Int64? = nil
        ) throws {
            let left = certificate.map { Base64.encode(HoldfastServer.Digest(of: $0.der).octets) }
            let full = try Content(
                app: app, hosts: content.hosts, formats: content.formats, end: end ?? content.end)
            let entries = try full.entries(at: world.now).filter { entry in
                left.map { !$0.utf8.elementsEqual(entry.fingerprint.utf8) } ?? true
            }
            old.publish(apps: [
                try old.app(
                    "\(app)", entries: entries, domains: domains, versions: versions ?? content.versions,
                    texts: content.texts, end: content.end)
            ])
        }

        func compare(_ port: Int) async throws -> ServerComparison {
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            return try await ServerComparison(of: app, on: world.publisher, with: OtherServer(url))
        }
    }

    @Test("A first change that waits answers as the old server does, and so does what is published of it")
    func alike() async throws {
        try await World.run { world in
            let pair = try await Pair(world)
            try pair.serve()
            try await pair.old.listening { port in
                let first = try await pair.compare(port)
                #expect(first.isAlike && !first.isPublished, "\(first.differences)")
                // Two platforms, a system with a rule of its own, both sides of each limit, two languages.
                #expect(first.questions > 30)
                try await world.see(world.shown, of: pair.app)
                try await world.approve(pair.change)
                try await world.publisher.publish(pair.change)
                try await world.everybodyFollows(of: pair.app, isThorough: false)
                let second = try await pair.compare(port)
                #expect(second.isAlike && second.isPublished, "\(second.differences)")
            }
        }
    }

    @Test("A damaged answer of another server is read or said to differ, in words that are not as long as it likes")
    func damaged() async throws {
        try await World.run { world in
            let pair = try await Pair(world)
            let own = try await OwnAnswers(of: pair.app, world.publisher)
            let question = try #require(ComparisonQuestion.all(of: pair.app, own.content).first)
            let good = own.answer(to: question)
            #expect(good.status == 200)
            var generator = SeededGenerator(seed: 0xA45)
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            // Without signatures, so that what is read is all that decides.
            let ours = HTTPExchange.Answer(status: good.status, headers: [:], body: good.body)
            for _ in 0..<mutants(inPartsOf: 10) {
                let body = mutated(good.body, &generator)
                var judge = AnswerComparison(question, own)
                judge.compare(HTTPExchange.Answer(status: good.status, headers: [:], body: body), ours)
                let isRead = (try? JSONReader.read(body, "answer", limit: Content.greatestSize)) != nil
                #expect(isRead || !judge.differences.isEmpty)
                #expect(judge.differences.allSatisfy { $0.utf8.count <= 2_000 })
            }
        }
    }

    @Test("An answer of another server that was damaged anywhere, with its signature, is alike in no case")
    func damagedAnswers() async throws {
        try await World.run { world in
            // Published, so that both sign with the key that apps have.
            try await world.publish()
            let own = try await OwnAnswers(of: world.app, world.publisher)
            let question = try #require(ComparisonQuestion.all(of: world.app, own.content).first)
            let good = own.answer(to: question)
            let signature = Array(try #require(good.header(Challenge.signatureHeader)).utf8)
            let seeds = [good.body, signature, Array("200".utf8)]
            var (number, alike) = (0, 0)
            _ = campaign(0xA46, seeds, count: mutants(inPartsOf: 10)) { mutant in
                let part = number % seeds.count
                number += 1
                var headers = good.headers
                if part == 1 {
                    let text = String(decoding: mutant, as: UTF8.self)
                    headers.replaceOrAdd(name: Challenge.signatureHeader, value: text)
                    // Two of them are none.
                    if mutant.count % 8 == 0 { headers.add(name: Challenge.signatureHeader, value: text) }
                }
                let status = part == 2 ? Int(String(decoding: mutant, as: UTF8.self)) ?? 0 : good.status
                var judge = AnswerComparison(question, own)
                judge.compare(
                    HTTPExchange.Answer(status: status, headers: headers, body: part == 0 ? mutant : good.body), good)
                let isWhole = mutant == seeds[part] && headers[Challenge.signatureHeader].count == 1
                #expect(judge.differences.isEmpty == (isWhole || part == 2 && status == 200), "\(judge.differences)")
                #expect(judge.differences.allSatisfy { $0.utf8.count <= 2_000 } && judge.notes.count <= 2)
                alike += judge.differences.isEmpty ? 1 : 0
            }
            #expect(alike < number)
        }
    }

    @Test("What clients could notice is listed")
    func different() async throws {
        try await World.run { world in
            let pair = try await Pair(world)
            try await pair.old.listening { port in
                func finds(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
                    let found = try await pair.compare(port)
                    #expect(
                        found.differences.contains { $0.contains(words) }, "\(found.differences)",
                        sourceLocation: sourceLocation)
                }
                try pair.serve(without: world.announced)
                try await finds("only this server names it")
                try pair.serve(
                    versions: [VersionRule(platform: .ios, majorSystemVersion: 15, required: AppVersion("3.0.0".utf8))])
                try await finds("verifyVersionResult: they differ")
                try pair.serve(domains: ContentDomains(unlistedNeedPins: true, domains: []))
                try await finds("domainsConfig: only the other says it")
                pair.old.publish(2, apps: [])
                try await finds("a challenge of 16 octets: the other server answers 404, and this one 200")
                pair.old.publish(3, apps: [try pair.old.app("\(pair.app)", hasKey: false)])
                try await finds("the other server answers 503")
            }
        }
    }

    @Test("Certificates that the content ends before are alike, and said to end earlier")
    func ends() async throws {
        try await World.run { world in
            // The announced certificate lasts for 180 days.
            let pair = try await Pair(world, lifetime: 100 * 86_400)
            try pair.serve(lasting: world.now + 200 * 86_400)
            try await pair.old.listening { port in
                let found = try await pair.compare(port)
                #expect(found.isAlike, "\(found.differences)")
                #expect(found.notes.contains { $0.contains("when the content ends") })
            }
        }
    }

    @Test("An old server that signs with another key is no forerunner")
    func otherKey() async throws {
        try await World.run { world in
            let pair = try await Pair(world, key: SigningKey())
            try pair.serve()
            try await pair.old.listening { port in
                let found = try await pair.compare(port)
                #expect(found.differences.contains("the public key: publicKey: they differ"))
                #expect(
                    found.differences.contains {
                        $0.hasPrefix("a challenge of 16 octets: the signature of the other server is not by the key")
                    })
            }
        }
    }

    @Test("Nobody is asked without TLS beyond this machine, nor behind a certificate that does not count for the name")
    func strangers() async throws {
        for text in [
            "http://192.0.2.1/", "http://mus.example.com/", "ftp://127.0.0.1/", "https://a:b@example.com/",
            "https://mus.example.com/?a=b",
        ] {
            expectError(.invalidValue) { try OtherServer(#require(URL(string: text))) }
        }
        try await World.run { world in
            let pair = try await Pair(world)
            try pair.serve()
            let authority = try TestAuthority.root()
            try await withFolder { folder in
                let leaf = try authority.leaf(names: [.dns("localhost")])
                let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
                try Data(leaf.pem.utf8).write(to: chain)
                try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
                let settings = try ListenerSettings(
                    host: "127.0.0.1", port: 0, identity: TLSIdentity(certificates: chain, key: key))
                try await pair.old.listening(settings) { port in
                    func ask(_ host: String, _ anchors: [[UInt8]]?) async throws -> ServerComparison {
                        let url = try #require(URL(string: "https://\(host):\(port)/"))
                        return try await ServerComparison(
                            of: pair.app, on: world.publisher, with: OtherServer(url, anchors: anchors))
                    }
                    #expect(try await ask("localhost", [authority.root]).isAlike)
                    for (host, anchors) in [
                        ("localhost", nil), ("localhost", [try TestAuthority.root().root]),
                        ("127.0.0.1", [authority.root]),
                    ] {
                        let error = await expectError(.unreachable) { try await ask(host, anchors) }
                        #expect(error?.expected == "a certificate that counts for the name", "\(host)")
                    }
                }
            }
            // Nothing listens there.
            let away = try OtherServer(#require(URL(string: "http://127.0.0.1:1/")))
            let error = await expectError(.unreachable) {
                try await ServerComparison(of: pair.app, on: world.publisher, with: away)
            }
            #expect(error?.expected == "an answer")
            // An app that publishes no challenge answers has nothing to compare.
            await expectError(.notFound) {
                try await ServerComparison(of: world.app, on: world.publisher, with: away)
            }
        }
    }
}
