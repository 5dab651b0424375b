import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerStore

/// The procedures of `docs/server/machines.md`, as they are written there.
@Suite(
    "Several machines, as docs/server/machines.md has them", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.holdfastctl, .postgreSQL, .program("nginx")))
struct MachineProcedureTests {
    /// Where the paths of the page lead on a machine. What is carried between them is in one place.
    private func base(_ number: Int, _ desk: ManualDesk) -> URL {
        number == 1 ? desk.folder : desk.folder.appending(path: "machine-\(number)")
    }

    /// Runs a block on a machine.
    private func follow(_ name: String, on number: Int, _ desk: ManualDesk) async throws {
        let base = base(number, desk)
        for folder in ["srv", "etc/holdfast"] {
            try FileManager.default.createDirectory(
                at: base.appending(path: folder), withIntermediateDirectories: true)
        }
        for command in try Manual.procedures().block("run: \(name)").commands {
            // Absolute paths of a page are below the folder of the test; a machine has its own.
            let own = command.text.replacing("/srv/", with: "\(base.path)@srv/")
                .replacing("/etc/holdfast/", with: "\(base.path)@etc/holdfast/")
            let fitted = desk.fitted(own).replacing("@srv/", with: "/srv/").replacing(
                "@etc/holdfast/", with: "/etc/holdfast/")
            let (status, output) = try await ForeignProgram.run(
                ForeignProgram.required("bash"), ["-euo", "pipefail", "-c", fitted], in: desk.folder,
                withErrors: true, environment: desk.environment)
            #expect(status == 0, "\(fitted): \(String(decoding: output, as: UTF8.self))")
        }
    }

    private func address(_ text: String, _ database: PostgreSQLAddress) throws -> String {
        let example = #""postgresql:///pins?host=/run/postgresql""#
        return text.contains(example) ? text.replacing(example, with: "'\(database.withoutPassword)'") : text
    }

    private func machine(_ number: Int, _ desk: ManualDesk) async throws -> Replica {
        let base = base(number, desk)
        return try await Replica(
            number, ServerFolder(base.appending(path: "srv/pins")), secret: base.appending(path: "etc/holdfast/secret"),
            ["--no-watch", "--behind-proxy", "127.0.0.1/32"])
    }

    /// Makes other machines of the first, as a reader of the page does.
    private func machines(_ desk: ManualDesk) async throws -> [Replica] {
        for number in 2...3 {
            try? FileManager.default.removeItem(at: base(number, desk).appending(path: "srv/pins"))
            try await follow("machine-copy", on: 1, desk)
            try await follow("machine-new", on: number, desk)
        }
        var machines: [Replica] = []
        for number in 1...3 { machines.append(try await machine(number, desk)) }
        for machine in machines { try await machine.start() }
        return machines
    }

    /// Waits until all answer with the list that one machine's folder has, and have it in their own.
    private func follow(_ machines: [Replica], within limit: Duration = ServingProcess.usualLimit) async throws {
        let path = "lists/bank.json"
        let list = Digest(of: try #require(try machines[0].server.publicFolder.read(path)))
        for machine in machines where machine.running != nil {
            try await eventually(within: limit, "machine \(machine.number) follows: \(machine.text.suffix(2_000))") {
                guard await machine.digest(of: path) == list else { return false }
                return try machine.server.publicFolder.read(path).map { Digest(of: $0) } == list
            }
        }
    }

    @Test("Machines are made, one dies behind the balancer, and all are restored from a backup onto a new database")
    func wholeLife() async throws {
        let postgres = try #require(PostgresServer.current)
        try await withFolder { folder in
            var desk = try await ManualDesk.settled(in: folder, clock: SystemWallClock())
            let first = try postgres.address(try await postgres.database())
            let move = try #require(try Manual.procedures().block("run: postgresql-move").commands.first)
            _ = try await desk.run(try address(move.text, first))
            for (old, new) in [("srv/pins", "srv/left"), ("srv/pins-pg", "srv/pins")] {
                try FileManager.default.moveItem(
                    at: folder.appending(path: old), to: folder.appending(path: new))
            }
            var all = try await machines(desk)
            try await follow(all)
            try await BalancingNginx.with(all.map(\.port)) { port in
                #expect(try await desk.letsIn(from: port))
                #expect(try await RawClient(port: port).get("/health/ready").status == 200)
                // Two of three are gone, and clients cannot know where the third is.
                for machine in all[..<2] { await machine.kill() }
                #expect(try await desk.letsIn(from: port))
                for machine in all[..<2] { try await machine.start() }
                await all[2].kill()
                let asking = desk
                try await eventually("nginx asks those again that did not answer") {
                    (try? await asking.letsIn(from: port)) ?? false
                }
                try await all[2].start()
            }
            _ = try await desk.run("holdfast-server backup --data /srv/pins --to pins.backup --recipient backup.pub")
            let settled = desk
            try await desk.work { try await settled.publish(on: $0, days: 170) }
            try await follow(all)

            for machine in all { #expect(await machine.stop() == 0) }
            let second = try postgres.address(try await postgres.database())
            for command in try Manual.procedures().block("run: machine-restore").commands {
                let own = Manual.Command(
                    text: try address(command.text, second), others: command.others, status: command.status)
                _ = try await desk.run(own)
            }
            all = try await machines(desk)
            try await follow(all)
            try await desk.everybodyFollows()
            for machine in all {
                #expect(try await desk.letsIn(from: machine.port))
                let doctor = try await machine.command("doctor")
                #expect(doctor.status == 0, "machine \(machine.number): \(doctor.output)")
                #expect(await machine.stop() == 0)
            }
        }
    }
}
