import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import PinPublication
@testable import ServerApprovals

@Suite("The command's backups")
struct BackupCommandTests {
    private typealias Desk = CommandTests.Desk

    /// A server that has published, and the key that its backups are for.
    private func makeDesk(in folder: URL) async throws -> Desk {
        let desk = try Desk(in: folder)
        try await desk.makeServer()
        try await desk.see()
        let proposed = try await desk.run(
            "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "first", "--no-proposer")
        let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
        for name in ["alice", "bob"] {
            _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
        }
        _ = try await desk.run("publish", change, "--data", desk.data)
        let key = SigningKey()
        try Data(key.pem.utf8).write(to: folder.appending(path: "backup.pem"))
        try Data("\(key.publicKey.base64)\n".utf8).write(to: folder.appending(path: "backup.pub"))
        return desk
    }

    @Test(
        "What is wrong is said in words, with its exit code, and the server does not start before a backup is restored")
    func mistakes() async throws {
        try await withFolder { folder in
            let desk = try await makeDesk(in: folder)
            _ = try await desk.run("backup", "--data", desk.data, "--to", "b", "--recipient", "backup.pub")
            #expect(
                try await desk.run("backup", "--data", desk.data, "--to", "b", "--recipient", "backup.pub", status: 3)
                    .contains("one that exists"))
            #expect(
                try await desk.run(
                    "backup", "--data", desk.data, "--to", "data/b", "--recipient", "backup.pub", status: 2
                )
                .contains("outside the data folder"))
            #expect(
                try await desk.run("backup", "--data", desk.data, "--to", "c", "--recipient", "backup.pem", status: 2)
                    .contains("holdfastctl keygen"))
            let restore = ["restore", "b", "--key", "backup.pem", "--secret", "secret"]
            #expect(try await desk.run(restore, status: 2).contains("--data"))
            #expect(try await desk.run(restore + ["--data", "new"], status: 2).contains("--no-public-url"))
            #expect(try await desk.run(restore + ["--check", "--data", "new"], status: 2).contains("--check goes"))
            #expect(
                try await desk.run(restore + ["--data", desk.data, "--no-public-url"], status: 3).contains(
                    "never overwritten") == false)
            // Nothing listens there.
            let away = restore + ["--data", "new", "--public", "data/public", "--public-url", "http://127.0.0.1:1/"]
            #expect(try await desk.run(away, status: 3).contains("Try again when the address answers"))
            for command in [["status"], ["doctor"], ["renew"], ["app", "list"]] {
                #expect(try await desk.run(command + ["--data", "new"], status: 3).contains("restoring"), "\(command)")
            }
            let here = restore + ["--data", "new", "--public", "data/public", "--no-public-url"]
            #expect(try await desk.run(here + ["--head", "x"], status: 2).contains("hexadecimal"))
            #expect(try await desk.run(here).contains("The server may start."))
            #expect(try await desk.run("status", "--data", "new").contains("generation 1001"))
            let lock = try ServerFolder(URL(filePath: desk.data)).lock()
            #expect(
                try await desk.run("reseal", "--data", desk.data, "--no-recovery-copy", status: 3).contains(
                    "folderInUse"))
            withExtendedLifetime(lock) {}
            #expect(try await desk.run("reseal", "--data", desk.data, status: 2).contains("--no-recovery-copy"))
        }
    }

    @Test("Killed at any moment after its first step, a change of the secret leaves a server that signs with all keys")
    func killed() async throws {
        try await withFolder { folder in
            let desk = try await makeDesk(in: folder)
            var generator = SeededGenerator(seed: 0x4E5EA1)
            // How often one can look between the first step and the end tells how long that takes: no clock decides.
            var whole = 0
            // On a busy machine the thread that looks may sleep through all of it.
            for _ in 0..<20 where whole == 0 { whole = try await looks(desk, killAfter: nil) }
            #expect(whole > 0)
            let kills = Int(ProcessInfo.processInfo.environment["HOLDFAST_KILLS"] ?? "") ?? 8
            for _ in 0..<kills {
                _ = try await looks(desk, killAfter: Int.random(in: 0...whole, using: &generator))
                let doctor = try await desk.run("doctor", "--data", desk.data)
                #expect(doctor.contains("all that is published was approved"))
                guard FileManager.default.fileExists(atPath: desk.path("secret.next")) else { continue }
                let completed = try await desk.run("reseal", "--data", desk.data, "--no-recovery-copy")
                #expect(completed.contains("an earlier change of the secret was completed"))
                _ = try await desk.run("doctor", "--data", desk.data)
                #expect(!FileManager.default.fileExists(atPath: desk.path("secret.next")))
            }
        }
    }

    /// Changes the secret, and counts how often one can look from the first step on.
    /// - Parameter limit: after how many looks it is killed; nil to let it end.
    private func looks(_ desk: Desk, killAfter limit: Int?) async throws -> Int {
        let program = try ServingProcess(
            [ServerProgram.url.path, "reseal", "--data", desk.data, "--no-recovery-copy"])
        let next = desk.path("secret.next")
        // A thread of its own: one of the pool that waits for its turn would look too seldom.
        let count = await withCheckedContinuation { (end: CheckedContinuation<Int, Never>) in
            Thread.detachNewThread {
                var count = 0
                while program.isRunning, limit.map({ count < $0 }) ?? true {
                    if count > 0 || FileManager.default.fileExists(atPath: next) { count += 1 }
                }
                if limit != nil { program.signal(SIGKILL) }
                end.resume(returning: count)
            }
        }
        _ = await program.status()
        return count
    }
}
