import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Machines that have another secret than the others, or none, and so cannot sign what the others would take.
@Suite(
    "serve on several machines, with the wrong secret", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct ReplicaSecretTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    /// The faulty secret of a machine: another one, or none.
    enum Mistake: CaseIterable, Sendable {
        case another, none
    }

    /// A machine with a folder as it should be, and a secret of its own.
    private func stranger(_ number: Int, _ mistake: Mistake, _ replicated: ReplicaSite) async throws -> Replica {
        let (server, secret) = try ReplicaSite.copy(of: replicated.site, number: number)
        try FileManager.default.removeItem(at: secret)
        if mistake == .another {
            var generator = SystemRandomNumberGenerator()
            try SecretFile(secret).create(SigningSecret(using: &generator), outside: server.url)
        }
        // Its commands have no other secret either.
        let before = try server.readConfiguration()
        try WholeFile.replace(
            server.configuration,
            with: FolderConfiguration(
                server: before.server, genesis: before.genesis, secret: secret.path, database: before.database
            ).bytes)
        return try await Replica(number, server, secret: secret, ["--no-watch"])
    }

    /// The end of the audit is signed by the secret of the others, and they take it.
    private func isSound(_ replicated: ReplicaSite) async throws {
        _ = try await replicated.site.open.catalog.now()
        #expect(try await replicated.site.open.catalog.headDoubt() == nil)
        #expect(try await replicated.faults(on: replicated.replicas[0]) == [])
    }

    @Test(
        "A machine with the secret of another server, or none, says so, signs and writes nothing, and the others go on",
        arguments: Mistake.allCases)
    func stranger(_ mistake: Mistake) async throws {
        let machines = [ReplicaSite.Machine](repeating: .usual, count: 2)
        try await ReplicaSite.run(on: try await StorageKind.postgresql.address(), machines) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            // One that joins between two writes of the others, and one whose copy of the head is of before.
            for replica in replicated.replicas { #expect(await replica.stop() == 0) }
            let current = try await stranger(4, mistake, replicated)
            let count = try await length(replicated)
            let process = try await current.start()
            try await process.says("nothing can be signed")
            // Whatever serve was about to write there, such as what a host shows, and a command that is typed there.
            try await writesNothing(current, replicated.site)
            if mistake == .another {
                let adding = try await current.command("token", "add", "t", "--every-app", "--scope", "read")
                #expect(adding.status != 0 && adding.output.contains("secretFile"), "\(adding.output)")
            }
            #expect(try await length(replicated) == count)
            #expect(try await current.get("/app/init?appName=bank", Self.challenge).status == 503)
            let readiness = try await current.get("/health/writable")
            #expect(readiness.status == 503, "\(readiness.text)")
            let known = try await replicated.newest()
            #expect(await current.digest(of: "lists/bank.json") == known["lists/bank.json"])

            try await replicated.start()
            let second = try await replicated.approvedChange(until: 170)
            #expect(try await replicated.publish(second, on: replicated.replicas[1]) == 2)
            try await replicated.follow()
            try await isSound(replicated)
            // It takes nothing that it cannot check, and continues to use its documents.
            #expect(await current.digest(of: "lists/bank.json") == known["lists/bank.json"])
            let publishing = try await current.command(
                "publish", "\(try await replicated.approvedChange(until: 160))")
            #expect(publishing.status != 0 && !publishing.output.contains("published: generation"))

            let late = try await stranger(5, mistake, replicated)
            try FileManager.default.removeItem(at: late.server.head.url)
            let other = try await late.start(isWhole: false)
            try await other.says("secretFile")
            #expect(try await late.get("/health/writable").status == 503)
            let third = try await replicated.approvedChange(until: 150)
            #expect(try await replicated.publish(third, on: replicated.replicas[0]) == 3)
            try await replicated.follow()
            try await isSound(replicated)
            for replica in replicated.replicas {
                try await replicated.everybodyFollows(replica.port, from: replica)
            }
            for stranger in [current, late] {
                #expect(!stranger.text.contains("signed again"))
                await stranger.kill()
            }
        }
    }

    /// A machine that serves without the secret of the others cannot write.
    private func writesNothing(_ machine: Replica, _ site: ServeSite) async throws {
        let open = try await machine.server.open(clock: site.clock)
        open.catalog.serve()
        let error = await expectError(.secretFile) {
            try await open.catalog.set(try CatalogHost(name: "evil.example.com"), of: site.app, by: "test")
        }
        #expect(error?.expected.contains("with which the end of the audit is signed") == true)
        await open.engine.close()
    }

    /// How many entries the audit has.
    private func length(_ replicated: ReplicaSite) async throws -> Int64 {
        _ = try await replicated.site.open.catalog.now()
        return replicated.site.open.catalog.ledger.chain.head.count
    }

    @Test("What a command without the secret writes, serve of its machine signs within seconds, and the others take it")
    func command() async throws {
        let machines = [ReplicaSite.Machine](repeating: .usual, count: 2)
        try await ReplicaSite.run(on: try await StorageKind.postgresql.address(), machines) { replicated in
            let site = replicated.site
            try await replicated.start()
            let own = replicated.replicas[1]
            let mute = ServerFolder(own.server.url, secret: site.folder.appending(path: "none"))
            let open = try await mute.open(clock: site.clock)
            #expect(open.secretProblem != nil)
            let app = try AppName("shop")
            try await open.catalog.addApp(
                app, displayName: "Shop", settings: AppSettings(canary: 0, anchors: [site.root.root], builds: []),
                by: "test")
            await open.engine.close()
            try await eventually("serve has signed it: \(own.text.suffix(2_000))") {
                (try? await site.open.catalog.now()) != nil && site.open.catalog.apps.contains(app)
            }
            #expect(try await site.open.catalog.headDoubt() == nil)
            try await replicated.publish(try await replicated.approvedChange(until: 180), on: replicated.replicas[0])
            try await replicated.follow()
            try await replicated.everybodyFollows(own.port, from: own)
        }
    }
}
