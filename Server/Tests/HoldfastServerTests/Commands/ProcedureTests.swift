import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// The procedures of the pages for operators: every command, read from there, in its order, on a server to which that
/// has happened. `RenewalHookTests` has the one for an ACME client.
@Suite("The procedures of the pages for operators", .needs(.holdfastctl), .timeLimit(.minutes(5)))
struct ProcedureTests {
    /// Time that lies behind a server.
    private func clock(days: Double) -> ManualClock {
        ManualClock(now: SystemWallClock().now.addingTimeInterval(-days * 86_400))
    }

    /// Runs a test on a server that was made some time ago.
    private func run(
        daysAgo days: Double = 0, signingFor lifetime: Int64 = 180,
        _ body: (inout ManualDesk, ManualClock) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let clock = clock(days: days)
            var desk = try await ManualDesk.settled(in: folder, clock: clock, days: lifetime)
            try await body(&desk, clock)
            await desk.host.shutdown()
        }
    }

    /// The commands of a procedure.
    private func commands(_ name: String) throws -> [Manual.Command] {
        try Manual.procedures().block("run: \(name)").commands
    }

    /// Follows a procedure.
    /// - Returns: what each command said.
    private func follow(_ name: String, _ desk: inout ManualDesk) async throws -> [String] {
        var said: [String] = []
        for command in try commands(name) { said.append(try await desk.run(command)) }
        return said
    }

    @Test("Every block of commands is one that a test runs")
    func everyBlock() throws {
        let tested: Set = [
            "questions", "token", "announce-certificate", "withdraw", "intermediate", "host", "addresses", "forgotten",
            "expired",
            "holiday", "leaves", "lost", "stolen", "restore", "damaged", "upgrade",
            // PostgreSQLServerTests runs these two.
            "postgresql-create", "postgresql-move",
            // MachineProcedureTests runs these.
            "machine-copy", "machine-new", "balancer", "machine-restore",
            // ReadmeTests, ReadmePasskeyTests and ReadmeProgramTests run these.
            "reports", "clock", "replace-key", "backup", "reseal", "places", "domains", "repository",
            "repository-rotate", "passkey", "passkey-approver", "signer", "notices",
        ]
        // TakingOverProcedureTests, ImportReadmeTests and RepositoryTakingOverTests run these.
        let takingOver: Set = ["taking over", "taking over files", "taking over a repository"]
        let marks = try Manual.procedures().blocks.map(\.mark)
        #expect(Set(marks) == Set(tested.map { "run: \($0)" }).union(takingOver))
    }

    @Test("On a good day every question is answered with yes, and a token for renewals is made")
    func goodDay() async throws {
        try await run { desk, _ in
            let said = try await follow("questions", &desk)
            #expect(said[0].contains("generation 1") && !said[0].contains("ALARM"), "\(said)")
            #expect(said[1].contains("known") && said[2].contains("was approved"), "\(said)")
            let token = try await follow("token", &desk)
            #expect(token[0].hasPrefix("holdfast_"))
            let spare = try desk.authority.leaf(names: [.dns(World.host)])
            try desk.write("spare.pem", spare.chainPEM)
            _ = try await follow("withdraw", &desk)
            let next = try await desk.work { try await $0.catalog.next(of: desk.catalogHost, AppName("bank")) }
            #expect(next.chains.map(\.chain.certificates) == [spare.chain])
        }
    }

    @Test("Another intermediate changes nothing for apps, and a chain without its intermediate is refused")
    func intermediate() async throws {
        try await run { desk, _ in
            #expect(desk.next.issuers.count == 2)
            let ready = try await follow("intermediate", &desk)
            #expect(ready[1].contains("ready: every client gets in with it"), "\(ready)")
            try desk.write("fullchain.pem", desk.next.pem)
            try await desk.work {
                try await $0.catalog.withdrawNext(on: desk.catalogHost, of: AppName("bank"), by: "x")
            }
            let said = try await desk.run(
                "holdfast-server next chain bank \(World.host) --data /srv/pins --chain fullchain.pem "
                    + "--from 2026-12-24T12:00:00Z", status: 2)
            #expect(said.contains("unknownIssuer") && said.contains("Send its issuers after it."), "\(said)")
        }
    }

    @Test("A key of somebody in the middle is an alarm that removes no pin; a host that stalls is unreadable")
    func host() async throws {
        try await run { desk, _ in
            let phone = InMemoryDataStore()
            let store = try desk.phone(keeping: phone)
            _ = try await store.update(mode: .forced)
            let stranger = try desk.authority.impersonate(desk.shown)
            try desk.host.serve(stranger)
            let said = try await follow("host", &desk)
            #expect(said[0].contains("unannounced") && said[0].contains("ALARM: "), "\(said)")
            #expect(said[1].contains("locked out"), "\(said)")
            #expect(try desk.letsIn(desk.shown, store))
            #expect(try !desk.letsIn(stranger, store))
            let content = try await desk.work { try await $0.publisher.published(AppName("bank")) }
            #expect(content?.hosts.first?.certificates.count == 2)
        }
    }

    @Test("A name that leads to an address that is not of the public Internet is not asked, unless it is listed")
    func addresses() async throws {
        try await run { desk, _ in
            desk.allowance = ""
            let all = try commands("addresses")
            #expect(try await desk.run(all[0]).contains("may not be asked"))
            let listed = all[1].text.replacing("10.0.0.0/8", with: "127.0.0.0/8")
            #expect(try await desk.run(listed).contains(" known "))
        }
    }

    @Test("As long as one address shows the old certificate, no change drops it, and the refusal names the address")
    func forgotten() async throws {
        try await run { desk, _ in
            try await desk.work { open in
                try await desk.see(desk.next, on: open)
                try await desk.see(desk.shown, at: "192.0.2.2:443", on: open)
            }
            desk.values["CERTIFICATE"] = "\(Digest(of: desk.shown.der))"
            desk.values["KEY"] = "\(Digest(of: try desk.shown.subjectPublicKeyInfo))"
            let refused = try await follow("forgotten", &desk)
            #expect(refused[0].contains("192.0.2.2:443  certificate \(Digest(of: desk.shown.der))"), "\(refused)")
            #expect(refused[1].contains("gate lint: refused") && refused[1].contains("192.0.2.2"), "\(refused)")
            let spare = try desk.authority.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await desk.work { open in
                try await desk.see(desk.next, at: "192.0.2.2:443", on: open)
                try await desk.announce(spare, on: open)
            }
            let mended = try await follow("forgotten", &desk)
            #expect(mended[1].contains("gate outlook: passed") && !mended[1].contains("refused"), "\(mended)")
        }
    }

    @Test("A server that was forgotten until its certificate expired is named, until it shows another one")
    func expired() async throws {
        try await run(daysAgo: 100) { desk, _ in
            // It did not run in the meantime.
            _ = try await desk.run("holdfast-server resume --clock --data /srv/pins")
            try await desk.work { open in
                try await desk.see(desk.next, on: open)
                try await desk.see(desk.shown, at: "192.0.2.2:443", on: open)
            }
            let said = try await follow("expired", &desk)
            #expect(said[0].contains("at 192.0.2.2:443 presents a certificate that expired"), "\(said)")
            #expect(said[0].contains("this server was forgotten"), "\(said)")
            try await desk.work { try await desk.see(desk.next, at: "192.0.2.2:443", on: $0) }
            // The rest of the status depends on the age of the published documents, not on what hosts present.
            let answer = try await desk.run("holdfast-server status --data /srv/pins --json || true")
            #expect(answer.contains(#""expiredServers":[]"#), "\(answer)")
        }
    }

    @Test("While approvers are away a change lapses, and before the last safe day status raises the alarm")
    func holiday() async throws {
        // Documents may be signed for 40 days, clients ask again within 21: 19 days are left, and eight are over.
        try await run(daysAgo: 8, signingFor: 40) { desk, clock in
            let settings = try AppSettings(
                staleness: 21 * 86_400, canary: 0, anchors: [desk.authority.root], builds: [])
            try await desk.work(at: clock) { try await $0.catalog.set(settings, of: AppName("bank"), by: "x") }
            let phone = try desk.phone(keeping: InMemoryDataStore())
            _ = try await phone.update(mode: .forced)
            let lapsed = try await desk.work(at: clock) { try await desk.propose(on: $0) }
            // No approver came, and nothing else happened except an owner's announcement.
            clock.advance(by: .seconds(4 * 86_400))
            try await desk.work(at: clock) { try await desk.announce(desk.next, on: $0) }
            try await desk.work { try await desk.see(desk.shown, on: $0) }
            let said = try await follow("holiday", &desk)
            #expect(said[0].contains("ALARM: publish until "), "\(said)")
            #expect(said[1].contains("\(lapsed)  lapsed"), "\(said)")
            #expect(said.last?.contains("published: generation 2") == true, "\(said)")
            let status = try await desk.run("holdfast-server status --data /srv/pins")
            #expect(!status.contains("ALARM"), "\(status)")
            #expect(try desk.letsIn(desk.shown, phone))
            #expect(try desk.letsIn(desk.next, phone))
            _ = try await phone.update(mode: .forced)
            #expect(try desk.letsIn(desk.shown, phone))
            #expect(try desk.letsIn(desk.next, phone))
            try await desk.everybodyFollows()
        }
    }

    @Test("Whoever leaves approves nothing anymore, also nothing that they approved before")
    func leaves() async throws {
        try await run { desk, _ in
            let change = try await desk.work { open in
                let change = try await desk.propose(on: open)
                try await desk.approve(change, by: ["alice", "carol"], on: open)
                return change
            }
            let said = try await follow("leaves", &desk)
            #expect(said.last?.contains("dave") == true && said.last?.contains("carol") == false, "\(said)")
            desk.change = "\(change)"
            let publish = "holdfast-server publish CHANGE --data /srv/pins"
            #expect(try await desk.run(publish, status: 1).contains("notApproved"))
            let carol = try await desk.run(
                "holdfast-server approve CHANGE --data /srv/pins --key carol.pem", status: 1)
            #expect(carol.contains("no approver's"), "\(carol)")
            for name in ["alice", "dave"] {
                _ = try await desk.run("holdfast-server approve CHANGE --data /srv/pins --key \(name).pem")
            }
            #expect(try await desk.run(publish).contains("published: generation 2"))
            try await desk.everybodyFollows()
        }
    }

    @Test("If too few approvers have their keys, two recovery keys put others in their place")
    func lost() async throws {
        try await run { desk, _ in
            for name in ["bob", "carol"] {
                try FileManager.default.removeItem(at: desk.folder.appending(path: "\(name).pem"))
            }
            _ = try await follow("lost", &desk)
            let change = try await desk.work { try await desk.propose(on: $0) }
            desk.change = "\(change)"
            for name in ["dave", "eve"] {
                _ = try await desk.run("holdfast-server approve CHANGE --data /srv/pins --key \(name).pem")
            }
            let publish = "holdfast-server publish CHANGE --data /srv/pins"
            #expect(try await desk.run(publish).contains("published: generation 2"))
            try await desk.everybodyFollows()
        }
    }

    @Test("A stolen key is gone from the folder within a quarter of an hour of the alarm, and every app gets in")
    func stolen() async throws {
        try await run(daysAgo: 1) { desk, _ in
            let phone = try desk.phone(keeping: InMemoryDataStore())
            _ = try await phone.update(mode: .forced)
            try await desk.work { open in
                try await open.catalog.set(
                    AppSettings(canary: 86_400, anchors: [desk.authority.root], builds: []), of: AppName("bank"),
                    by: "operator")
            }
            try desk.write("stolen.pem", desk.shown.pem)
            try desk.write("spare.pem", try desk.authority.leaf(names: [.dns(World.host)]).chainPEM)
            try desk.host.serve(desk.next)
            let head = try await desk.work { $0.catalog.ledger.chain.head.count }
            for command in try commands("stolen") {
                let said = try await desk.run(command)
                guard command.text.hasPrefix("openssl") else { continue }
                desk.values[desk.values["CERTIFICATE"] == nil ? "CERTIFICATE" : "KEY"] = String(said.prefix(64))
            }
            let entries = try await desk.work { open in
                try await open.catalog.audit(after: head - 1, limit: 1_000).map { try AuditEntry($0) }
            }
            let published = try #require(entries.first { $0.event == .published })
            #expect(published.time - (entries.first?.time ?? 0) <= 900 && published.facts["forced"] == "canary")
            // Before it asks again and afterwards, it lets the backup in that the host shows.
            #expect(try desk.letsIn(desk.next, phone))
            _ = try await phone.update(mode: .forced)
            #expect(try desk.letsIn(desk.next, phone))
            #expect(try !desk.letsIn(desk.shown, phone))
            try await desk.everybodyFollows(lettingIn: [desk.next], refusing: [desk.shown])
        }
    }

    /// Writes a backup of a server as it was at some time.
    private func backUp(_ desk: ManualDesk, at clock: ManualClock) async throws -> AuditHead {
        try await desk.work(at: clock) { open in
            let key = try String(contentsOf: desk.folder.appending(path: "backup.pub"), encoding: .utf8)
            return try await desk.server.backUp(
                open, to: desk.folder.appending(path: "pins.backup"),
                for: BackupRecipient(printed: Array(key.utf8.dropLast()))
            ).head
        }
    }

    @Test("A backup of last week is restored while newer pins are public: nobody is refused, before and afterwards")
    func restore() async throws {
        try await run(daysAgo: 7) { desk, clock in
            _ = try await backUp(desk, at: clock)
            clock.advance(by: .seconds(5 * 86_400))
            let spare = try desk.authority.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try desk.write("spare.pem", spare.chainPEM)
            try await desk.work(at: clock) { open in
                try await desk.see(desk.shown, on: open)
                try await desk.announce(spare, on: open)
                try await desk.publish(on: open)
            }
            let storage = InMemoryDataStore()
            let phone = try desk.phone(keeping: storage)
            _ = try await phone.update(mode: .forced)
            #expect(try desk.letsIn(spare, phone))
            let said = try await follow("restore", &desk)
            #expect(said[1].contains("newer than the backup, and stays: lists/bank.json"), "\(said)")
            #expect(said[1].contains("bank: signs nothing before its next publication"), "\(said)")
            #expect(said[2].contains("nothing is signed until the next publication"), "\(said)")
            #expect(said.last?.contains("was approved") == true, "\(said)")
            let again = try desk.phone(keeping: storage)
            #expect(try await again.update(mode: .forced).error == nil)
            for certificate in [desk.shown, desk.next, spare] {
                #expect(try desk.letsIn(certificate, again))
                #expect(try desk.letsIn(certificate, phone))
            }
            try await desk.everybodyFollows(lettingIn: [desk.shown, desk.next, spare])
        }
    }

    @Test("A damaged history is named, signs nothing, and a backup takes its place without a loss")
    func damaged() async throws {
        try await run(daysAgo: 1) { desk, clock in
            let head = try await backUp(desk, at: clock)
            desk.values["HEAD"] = "\(head)"
            let list = try Data(contentsOf: desk.folder.appending(path: "srv/pins/public/lists/bank.json"))
            let other = try SQLiteConnection(desk.server.database.path, clock: clock)
            try other.execute(
                "UPDATE audit SET entry = (SELECT entry FROM audit WHERE place = 3) WHERE place = 4")
            let said = try await follow("damaged", &desk)
            #expect(said[0].contains("audit"), "\(said)")
            #expect(said[3].contains("nothing that the known head knows is lost"), "\(said)")
            #expect(said[3].contains("The server may start."), "\(said)")
            #expect(try Data(contentsOf: desk.folder.appending(path: "srv/pins/public/lists/bank.json")) == list)
        }
    }

    @Test("A newer program takes the database of an older one, and an older one refuses what a newer one has opened")
    func upgrade() async throws {
        try await run { desk, _ in
            let host = try desk.catalogHost
            try await desk.work { try await $0.catalog.forgetOrigins(on: host, of: AppName("bank")) }
            try OldDatabase.make(2, of: desk.server.database)
            let said = try await follow("upgrade", &desk)
            #expect(said[1].contains("was approved") && said[2].contains("generation 1"), "\(said)")
            #expect(try OldDatabase.version(of: desk.server.database) == Int64(SQLiteMigrations.steps.count))
            try OldDatabase.setVersion(99, of: desk.server.database)
            let bytes = try Data(contentsOf: desk.server.database)
            let doctor = try await desk.run("holdfast-server doctor --data /srv/pins", status: 3)
            #expect(doctor.contains("newerDatabase"), "\(doctor)")
            #expect(try Data(contentsOf: desk.server.database) == bytes)
        }
    }
}
