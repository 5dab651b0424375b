import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// The program itself, as an operator and approvers use it, on the folder that the library opens as well.
@Suite("The command")
struct CommandTests {
    /// A folder with everything that an operator has before the first command.
    struct Desk {
        let folder: URL
        let authority: TestAuthority
        let shown: TestCertificate
        let next: TestCertificate
        let clock = SystemWallClock()
        /// Arguments of `init` about the database.
        let database: [String]

        var data: String { path("data") }

        init(in folder: URL, database: [String] = []) throws {
            self.folder = folder
            self.database = database
            authority = try TestAuthority.root()
            shown = try authority.leaf(names: [.dns(World.host)])
            next = try authority.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            for (index, name) in ["alice", "bob", "carol"].enumerated() {
                let key = TUFSigningKey(index == 1 ? .p256 : .ed25519)
                let pem = try #require(key.pem)
                try Data(pem.utf8).write(to: folder.appending(path: "\(name).pem"))
                let read = try ApproverPrivateKey(pem: pem).key
                try Data(read.subjectPublicKeyInfo).write(to: folder.appending(path: "\(name).pub"))
            }
            try Data(TestCertificate.pem(authority.root).utf8).write(to: folder.appending(path: "roots.pem"))
            try Data(shown.chainPEM.utf8).write(to: folder.appending(path: "shown.pem"))
            try Data(next.chainPEM.utf8).write(to: folder.appending(path: "next.pem"))
        }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        /// Runs the program.
        func run(_ arguments: String..., status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
            -> String
        {
            try await run(arguments, status: status, sourceLocation: sourceLocation)
        }

        /// Runs the program.
        func run(_ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
            -> String
        {
            let (found, output) = try await ServerProgram.run(arguments, in: folder)
            #expect(found == status, "\(arguments): \(output)", sourceLocation: sourceLocation)
            return output
        }

        /// Runs the program, which must end by itself.
        func run(anyStatus arguments: [String]) async throws -> String {
            let (status, output) = try await ServerProgram.run(arguments, in: folder)
            #expect((0...3).contains(status), "\(arguments): \(output)")
            return output
        }

        /// A server without apps.
        func makeEmptyServer() async throws {
            _ = try await run(
                "genesis", "--approver", "alice=alice.pub", "--approver", "bob=bob.pub", "--approver",
                "carol=carol.pub",
                "--number", "2", "--output", "genesis.txt")
            for name in ["alice", "bob", "carol"] {
                _ = try await run("sign", "genesis.txt", "--key", "\(name).pem", "--output", "\(name).sig", "--yes")
            }
            _ = try await run(
                [
                    "init", "--data", data, "--secret", path("secret"), "--no-recovery-copy", "--genesis",
                    "genesis.txt", "--signature", "alice.sig", "--signature", "bob.sig", "--signature", "carol.sig",
                ] + database)
        }

        func makeServer() async throws {
            try await makeEmptyServer()
            _ = try await run(
                "app", "add", "bank", "--data", data, "--anchors", "roots.pem", "--no-shipped-pins", "--canary", "0")
            _ = try await run("app", "key", "bank", "--data", data)
            _ = try await run("host", "add", "bank", World.host, "--data", data)
            let begins = clock.now.addingTimeInterval(TimeInterval(World.month)).formatted(.iso8601)
            _ = try await run(
                "next", "chain", "bank", World.host, "--data", data, "--chain", "next.pem", "--from", begins)
        }

        /// The owner announces what the host shows, and the watcher sees it.
        func see() async throws {
            _ = try await run(
                "next", "chain", "bank", World.host, "--data", data, "--chain", "shown.pem", "--from",
                clock.now.formatted(.iso8601))
            try await watch()
        }

        /// The watcher, another process, sees the host.
        func watch() async throws {
            let open = try await ServerFolder(URL(filePath: data)).open(clock: clock)
            let now = Int64(clock.now.timeIntervalSince1970)
            let seen = try Observation(
                vantage: Vantage.usual, address: "192.0.2.1", chain: CertificateChain(shown.chain), firstSeen: now,
                lastSeen: now)
            try await open.catalog.note(
                [(host: CatalogHost(name: World.host), seen: [seen])], from: Vantage.usual, of: AppName("bank"),
                by: "test")
            await open.engine.close()
        }

        /// Has every kind of client follow what the program has published, with both certificates of the host.
        func everybodyFollows(
            isThorough: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let stranger = try authority.leaf(names: [.dns(World.host)])
            try await ServerFolder(URL(filePath: data)).everybodyFollows(
                lettingIn: [shown, next], refusing: [stranger], trusting: authority, isThorough: isThorough,
                sourceLocation: sourceLocation)
        }
    }

    @Test("From nothing to a published list, as the README has it")
    func first() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            #expect(try await desk.run("app", "list", "--data", desk.data) == "bank  bank  generation 0\n")
            #expect(try await desk.run("approvers", "--data", desk.data).contains("2 must approve"))
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "first pins",
                "--proposer",
                "carol")
            #expect(proposed.contains("adds host api.example.com:443"))
            #expect(!proposed.contains("SEEN ON THE NETWORK ONLY"))
            #expect(!proposed.contains("refused"))
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            #expect(try await desk.run("publish", change, "--data", desk.data, status: 1).contains("notApproved"))
            _ = try await desk.run("approve", change, "--data", desk.data, "--key", "carol.pem", "--yes")
            _ = try await desk.run("approve", change, "--data", desk.data, "--key", "alice.pem", "--yes")
            // Carol proposed it.
            #expect(try await desk.run("publish", change, "--data", desk.data, status: 1).contains("notApproved"))
            _ = try await desk.run("approve", change, "--data", desk.data, "--key", "bob.pem", "--yes")
            #expect(try await desk.run("publish", change, "--data", desk.data, "--dry-run").contains("approved"))
            #expect(try await desk.run("change", "show", change, "--data", desk.data).contains("approve: alice"))
            let shown = try await desk.run("change", "show", change, "--data", desk.data)
            #expect(shown.contains("proposed by carol"))
            let enter = try FileManager.default.attributesOfItem(atPath: desk.data)[.posixPermissions] as? Int
            #expect(enter == 0o711)
            #expect(try await desk.run("publish", change, "--data", desk.data).contains("published: generation 1"))
            #expect(FileManager.default.fileExists(atPath: desk.path("data/public/lists/bank.json")))
            try await desk.everybodyFollows()
            #expect(
                try await desk.run("publish", change, "--data", desk.data, "--dry-run", status: 1)
                    .contains("it cannot be published anymore: it is published"))
            #expect(try await desk.run("change", "list", "bank", "--data", desk.data).contains("published"))
            #expect(try await desk.run("status", "--data", desk.data).contains("generation 1"))
            #expect(try await desk.run("doctor", "--data", desk.data).contains("all that is published was approved"))
            #expect(try await desk.run("app", "key", "bank", "--data", desk.data, status: 3).contains("--replace"))
            try FileManager.default.removeItem(atPath: desk.path("data/public/lists/bank.json"))
            #expect(try await desk.run("renew", "--data", desk.data).contains("written again: lists/bank.json"))
            #expect(FileManager.default.fileExists(atPath: desk.path("data/public/lists/bank.json")))
            let revert = try await desk.run(
                "revert", "bank", "--to", "1", "--data", desk.data, "--reason", "once more", "--no-proposer")
            #expect(revert.contains("change "))
            let second = String(revert.split(separator: "\n")[0].dropFirst("change ".count))
            _ = try await desk.run("reject", second, "--data", desk.data, "--key", "carol.pem", "--yes")
            #expect(try await desk.run("publish", second, "--data", desk.data, status: 1).contains("rejected"))
        }
    }

    @Test("What is wrong is named, with an exit code for each kind, and nothing is overwritten")
    func mistakes() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            #expect(try await desk.run("status", "--data", desk.data, status: 3).contains("holdfast-server init"))
            try await desk.makeServer()
            #expect(
                try await desk.run(
                    "init", "--data", desk.data, "--secret", desk.path("other"), "--no-recovery-copy", "--genesis",
                    "genesis.txt", "--signature", "alice.sig", "--signature", "bob.sig", "--signature", "carol.sig",
                    status: 3
                ).contains("a server is never overwritten"))
            #expect(
                try await desk.run("app", "add", "!", "--data", desk.data, "--anchors", "roots.pem", status: 2)
                    .contains(
                        "app"))
            #expect(
                try await desk.run(
                    "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "x", status: 2
                ).contains("--no-proposer"))
            #expect(
                try await desk.run(
                    "genesis", "--approver", "alice=alice.pub", "--approver", "bob=bob.pub", "--number", "2",
                    "--recovery", "carol=carol.pub", "--output", "other.txt", status: 2
                ).contains("one alone"))
            #expect(
                try await desk.run("approve", "x", "--data", desk.data, "--key", "alice.pem", status: 2).contains("32"))
            let lock = try ServerFolder(URL(filePath: desk.data)).lock()
            #expect(try await desk.run("renew", "--data", desk.data, status: 3).contains("folderInUse"))
            withExtendedLifetime(lock) {}
            // The secret is lost.
            try FileManager.default.removeItem(atPath: desk.path("secret"))
            #expect(try await desk.run("doctor", "--data", desk.data, status: 1).contains("fault"))
        }
    }

    @Test("host see says what each address shows now: what is announced is known, and another key is an alarm")
    func see() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            try await withLoopbackTLSServer(serving: desk.next) { server in
                _ = try await desk.run(
                    "host", "add", "bank", World.host, "--port", "\(server.port)", "--dial", "127.0.0.1", "--data",
                    desk.data)
                func see(_ arguments: String..., status: Int32 = 0) async throws -> String {
                    try await desk.run(["host", "see", "bank", "--data", desk.data] + arguments, status: status)
                }
                // The name resolves to nothing on this machine, and loopback may not be probed.
                #expect(try await see(status: 1).contains("\(World.host):\(server.port)\n  "))
                let label = "\(World.host):\(server.port)"
                _ = try await desk.run(
                    "next", "chain", "bank", label, "--data", desk.data, "--chain", "next.pem", "--from",
                    desk.clock.now.formatted(.iso8601))
                let known = try await see("--allow", "127.0.0.0/8", status: 1)
                #expect(known.contains("127.0.0.1:\(server.port)  known key"), "\(known)")
                try server.serve(desk.shown)
                let alarm = try await see("--allow", "127.0.0.0/8", status: 1)
                #expect(alarm.contains("unannounced key") && alarm.contains("ALARM"), "\(alarm)")
                #expect(try await !see("--allow", "127.0.0.0/8", status: 1).contains("ALARM"))
                #expect(try await see("--allow", "127.0.0.1/33", status: 2).contains("10.0.0.0/8"))
            }
        }
    }
}
