import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastServer
import HoldfastSigning
import HoldfastTesting

/// The demo, step by step. Each step says what was seen, and whether it is what has to be.
actor DemoStory {
    private let stage: DemoStage
    private let address: String
    private(set) var failures = 0

    private var catalog: Catalog { stage.open.catalog }
    private var publisher: Publisher { stage.open.publisher }

    init(_ stage: DemoStage, at address: String) {
        self.stage = stage
        self.address = address
    }

    func tell() async throws {
        let (publicKey, trustServer) = try await prepare()
        let approval = try await publishFirst()
        let root = publisher.live.current.document(at: "repo/bank/metadata/1.root.json".utf8)
        let trust = DemoClients.Trust(
            publicKey: publicKey, trustServer: trustServer, root: Data(root?.octets ?? []))
        let clients = try await DemoClients(of: stage, at: address, trusting: trust)
        try await follow(clients)
        if let isVerified = try await stage.openSSLVerifies(address, signer: trustServer) {
            check("openssl verifies the trust server's document", isVerified)
        }
        try await alarm(clients)
        try await attack(clients, approval, trust)
    }

    private func check(_ words: String, _ isGood: Bool) {
        if !isGood { failures += 1 }
        Terminal.line("  \(isGood ? "ok    " : "FAILED") \(words)")
    }

    private func refuses(
        _ words: String, _ codes: Set<ServerError.Code>, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            check("\(words): accepted", false)
        } catch let error as ServerError {
            check("\(words): refused, \(error.code.rawValue)", codes.contains(error.code))
        } catch {
            check("\(words): \(error)", false)
        }
    }

    // MARK: Acts

    private func prepare() async throws -> (publicKey: String, trust: [UInt8]) {
        Terminal.line("A host is seen, and its next certificate announced")
        let app = stage.app
        try await catalog.addApp(
            app, displayName: "Bank", settings: AppSettings(canary: 0, anchors: [stage.authority.root], builds: []),
            by: "demo")
        try await catalog.set(stage.catalogHost, of: app, by: "demo")
        let secret = try SecretFile(URL(filePath: stage.open.configuration.secret)).read(outside: stage.folder.url)
        func place(_ id: String, _ purpose: SealedKey.Purpose) throws -> SealedKey.Place {
            try SealedKey.Place(server: catalog.server, app: app, id: id, purpose: purpose)
        }
        let list = SigningKey()
        try await catalog.add(
            Catalog.Key(sealed: SealedKey(sealing: list.pem, at: place("list", .fingerprints), with: secret)),
            by: "demo")
        let trust = try TrustServerKey(customer: DemoStage.customer, kind: .p256, at: stage.clock.now)
        try await catalog.add(
            Catalog.Key(
                sealed: SealedKey(sealing: trust.privateKeyPEM, at: place("trust", .trustServer), with: secret),
                certificate: Array(trust.certificate)), by: "demo")
        try await stage.holders.begin(app, publisher)
        check(
            "a repository is begun, with a root that the holders of its keys signed",
            try await catalog.firstRoot(of: app) != nil)
        let findings = try await stage.look().flatMap(\.findings)
        check("the watcher saw \(findings.count) address, with a certificate", findings.map(\.verdict) == [.unpinned])
        let now = Int64(stage.clock.now.timeIntervalSince1970)
        await refuses("pinning what was seen from one place only", [.gate]) {
            _ = try await catalog.draft(of: app, .init(includesSeen: true))
        }
        for (certificate, begins) in [(stage.shown, now), (stage.next, now + 31 * 86_400)] {
            try await catalog.announce(
                HostChain(certificate.chain), from: begins, on: stage.catalogHost, of: app, by: "demo")
        }
        let next = try await catalog.next(of: stage.catalogHost, app)
        check("its owner announces it, and the next one, to be shown in 31 days", next.chains.count == 2)
        return (try list.publicKey.base64, Array(trust.certificate))
    }

    private func publishFirst() async throws -> SignedApproval {
        Terminal.line("A change is proposed, approved with two keys, and published")
        var formats = try [ContentFormat.Kind.list, .challenge, .pinFile, .android, .apple, .trustKit].map {
            try ContentFormat($0, refresh: 3_600)
        }
        formats.append(try ContentFormat(.trustServer, refresh: 300, customer: DemoStage.customer))
        formats.append(
            try ContentFormat(.repository, refresh: 21_600, root: try await catalog.firstRoot(of: stage.app)))
        let proposal = try await stage.propose(.init(formats: formats), "the first pins")
        for line in proposal.difference.lines { Terminal.line("         \(line)") }
        for result in proposal.report.results {
            // Holders sign what was approved, so their gate is closed until then.
            let isTooEarly = result.gate == .signatures
            check("gate \(result.gate.rawValue)\(isTooEarly ? " is closed" : "")", result.isPassed != isTooEarly)
        }
        await refuses("publishing without an approval", [.notApproved]) {
            _ = try await publisher.publish(proposal.change)
        }
        let approval = try await stage.approval(by: stage.approvers[0], of: proposal.change)
        try await catalog.add(approval)
        await refuses("publishing with one approval of two", [.notApproved]) {
            _ = try await publisher.publish(proposal.change)
        }
        try await catalog.add(try await stage.approval(by: stage.approvers[1], of: proposal.change))
        await refuses("publishing without the signatures of the repository's holders", [.gate]) {
            _ = try await publisher.publish(proposal.change)
        }
        try await stage.holders.sign(proposal.change, of: stage.app, publisher)
        let outcome = try await publisher.publish(proposal.change)
        check("published, approved by alice and bob", outcome == .published(generation: 1))
        for problem in outcome.problems { Terminal.line("         \(problem)") }
        return approval
    }

    private func follow(_ clients: DemoClients) async throws {
        Terminal.line("Real clients of each format follow, and the host changes to its next certificate")
        for (words, certificate) in [("today's certificate", stage.shown), ("the next certificate", stage.next)] {
            try stage.tls.serve(certificate)
            let inside = try await clients.thatGetIn()
            for name in clients.names { check("\(words): \(name) gets in", inside.contains(name)) }
        }
        let findings = try await stage.look().flatMap(\.findings)
        check("the watcher knows the next certificate, and is silent", findings.map(\.verdict) == [.known])
    }

    private func alarm(_ clients: DemoClients) async throws {
        Terminal.line("The host shows a key that nobody announced")
        try stage.tls.serve(stage.strangers)
        let inside = try await clients.thatGetIn()
        check("no client gets in", inside.isEmpty)
        let report = try await stage.look()
        check("the watcher raises an alarm", report.flatMap(\.alarms).count == 1)
        check("it proposes nothing", try await catalog.changes(of: stage.app).count == 1)
    }

    private func attack(
        _ clients: DemoClients, _ approval: SignedApproval, _ trust: DemoClients.Trust
    ) async throws {
        Terminal.line("Somebody wants the clients to take that key")
        let served = publisher.live.current.documents
        await refuses("pinning it because the watcher saw it", [.gate]) {
            _ = try await stage.propose(.init(includesSeen: true), "the attacker's key")
        }
        // Somebody who may propose announces it.
        try await catalog.announce(
            HostChain(stage.strangers.chain), from: Int64(stage.clock.now.timeIntervalSince1970), on: stage.catalogHost,
            of: stage.app, by: "somebody")
        let change = try await stage.propose(.init(), "the attacker's key").change
        await refuses("a wrong approval, by a stranger", [.invalidSignature, .notForThis]) {
            try await catalog.add(try await stage.approval(by: DemoStage.newApprover(), of: change))
        }
        await refuses("a wrong approval, in the name of alice", [.invalidSignature]) {
            let own = try await stage.approval(by: DemoStage.newApprover(), of: change)
            let name = approval.signature.identity
            try await catalog.add(
                SignedApproval(
                    text: own.text, signature: ApproverSignature(identity: name, signature: own.signature.signature)))
        }
        await refuses("alice's signature under the first change, replayed for this one", [.invalidSignature]) {
            let own = try await stage.approval(by: stage.approvers[0], of: change)
            try await catalog.add(SignedApproval(text: own.text, signature: approval.signature))
        }
        await refuses("publishing it all the same", [.notApproved]) { _ = try await publisher.publish(change) }
        let thief = DemoThief(stage)
        check("the stolen database: its keys do not open without the secret", try await !thief.opensKey())
        try await thief.rewrite(change)
        await refuses("the rewritten database: publishing from it", [.brokenChain]) {
            _ = try await publisher.publish(change)
        }
        let round = try? await publisher.renew()
        check("the rewritten database: nothing is signed again from it", round?.signed.isEmpty ?? true)
        await refuses("the rewritten database: a server that starts with it", [.brokenChain]) {
            let open = try await stage.folder.open(clock: stage.clock)
            await open.engine.close()
        }
        check("what is served is what was approved", publisher.live.current.documents == served)
        let fresh = try await DemoClients(of: stage, at: address, trusting: trust)
        check("clients that start now refuse that key as well", try await fresh.thatGetIn().isEmpty)
        try stage.tls.serve(stage.next)
        for (words, some) in [("clients that have pins", clients), ("clients that start now", fresh)] {
            let inside = try await some.thatGetIn()
            check("\(words) get in with the next certificate", inside == some.names)
        }
    }
}
