import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// An attacker can write to the database, and has neither an approver's key nor the file with the head of the audit.
@Suite("Attacks on the database")
struct AttackTests {
    private typealias Stage = AttackStage
    private typealias Copy = AttackStage.Copy

    @Test(
        "Whatever is written into any column of any table, nothing is signed that was not approved",
        arguments: AttackStage.Situation.allCases.filter { $0 != .programs })
    func everyColumn(_ situation: AttackStage.Situation) async throws {
        try await World.run(canary: 86_400) { world in
            let stage = try await Stage(world, situation)
            #expect(try await attackEveryColumn(of: stage, situation) > 60)
            // The control: once it is approved, the same look finds the certificate.
            try await world.approve(stage.wanted, by: [.bob])
            let generation = world.catalog.ledger.generation(of: world.app) + 1
            #expect(try await world.publisher.publish(stage.wanted) == .published(generation: generation))
            #expect(try !stage.isClean(world.publisher.live.current, world.folder.appending(path: "public")))
            // Clients that pin keys are refused everywhere: what was approved has a certificate only.
            try await world.everybodyFollows(lettingIn: [], refusing: [world.shown], isThorough: false)
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(stage.malicious, store.policy(for: World.host)))
        }
    }

    @Test(
        "With keys in programs and places to upload to, no column makes another program run, or documents go elsewhere",
        .needs(.program("openssl")))
    func programs() async throws {
        try await World.run(canary: 86_400) { world in
            let stage = try await Stage(world, .programs)
            let programs = try #require(stage.programs)
            let control = try await Copy(of: stage, "control")
            try await programs.expectWork(on: control)
            #expect(try await attackEveryColumn(of: stage, .programs) > 40)
            #expect(!programs.ranAttackers)
            try await programs.runAttackers(on: control, world)
            #expect(try !stage.isClean(control.publisher.live.current, control.folder.appending(path: "public")))
            await control.engine.close()
        }
    }

    /// - Returns: how many values were written.
    private func attackEveryColumn(of stage: Stage, _ situation: AttackStage.Situation) async throws -> Int {
        let world = stage.world
        let plain = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
        let tables = try plain.run(text: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .map { try $0.text(0) }
        #expect(tables.count >= 20)
        var attacks = 0
        for table in tables where situation.tables?.contains(table) ?? true {
            let columns = try plain.run(text: "SELECT name, type FROM pragma_table_info('\(table)')").map {
                (name: try $0.text(0), type: try $0.text(1))
            }
            let copy = try await Copy(of: stage, table)
            let connection = try SQLiteConnection(copy.folder.appending(path: "server.db").path, clock: world.clock)
            try connection.execute("PRAGMA ignore_check_constraints = ON")
            try connection.execute("PRAGMA foreign_keys = OFF")
            let before = attacks
            if try connection.run(text: "SELECT rowid FROM \(table) LIMIT 1").isEmpty {
                let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
                _ = try connection.run(
                    text: "INSERT INTO \(table) VALUES (\(places))", columns.map { Self.value($0.name, $0.type) })
                attacks += 1
                #expect(try await copy.staysClean(stage), "\(table)")
            }
            for column in columns.map(\.name) {
                let rows = try connection.run(text: "SELECT rowid, \(column) FROM \(table) LIMIT 2")
                for row in rows {
                    let values = Self.values(instead: row[1], others: rows.map { $0[1] })
                    for value in values + (stage.programs?.values(table, column) ?? []) {
                        let update = "UPDATE \(table) SET \(column) = $1 WHERE rowid = $2"
                        guard (try? connection.run(text: update, [value, row[0]])) != nil else { continue }
                        attacks += 1
                        #expect(try await copy.staysClean(stage), "\(table).\(column)")
                        _ = try? connection.run(text: update, [row[1], row[0]])
                    }
                }
            }
            await copy.engine.close()
            #expect(attacks > before, "nothing was written into \(table)")
        }
        return attacks
    }

    /// Something for a table in which the server has nothing.
    private static func value(_ column: String, _ type: String) -> StorageValue {
        switch type {
        case "INTEGER": .integer(1)
        case "BLOB": .bytes([UInt8](repeating: 1, count: 32))
        default: .text(column == "app" ? "bank" : "x")
        }
    }

    private static func values(instead value: StorageValue, others: [StorageValue]) -> [StorageValue] {
        let swapped = others.first { $0 != value }
        let changed: StorageValue =
            switch value {
            case .integer(let number): .integer(number + 1)
            case .text(let text): .text("\(text)x")
            case .bytes(let bytes): .bytes(bytes.isEmpty ? [1] : [bytes[0] ^ 1] + bytes.dropFirst())
            case .null: .integer(1)
            }
        // Nightly both, which takes a minute.
        return mutants > 10_000 ? [swapped, changed].compactMap(\.self) : [swapped ?? changed]
    }

    @Test("An approver, approvals and a whole audit that the attacker made change nothing")
    func forged() async throws {
        try await World.run { world in
            let stage = try await Stage(world)
            let before = try await world.catalog.approvers()
            let mallory = try ApproverStatement(
                after: before.head,
                approvers: ApproverSet(try [.mallory, .dave].map { (it: Approver) in try it.member }, number: 1))
            let change = try await world.catalog.change(stage.wanted)
            let malicious = try ApprovalText.Subject(
                server: Story.server, app: world.app, change: stage.wanted, baseGeneration: 1,
                content: change.content.digest, outlook: Digest(of: change.outlook), forced: change.forced,
                approvers: mallory.digest)
            let signed = try [Approver.mallory, .dave].sign(mallory)
            let approval = try Approver.mallory.says(.approve, malicious, until: world.now + 86_400)
            var chain = world.catalog.ledger.chain
            func entry(_ event: AuditEntry.Event, _ facts: [String: String]) throws -> AuditEntry {
                let entry = try chain.next(event, by: "server", at: world.now, facts: facts)
                try chain.follow(entry.bytes)
                return entry
            }
            let entries = try [
                entry(.approvers, ["index": "1", "digest": "\(mallory.digest)"]),
                entry(
                    .published,
                    [
                        "app": "bank", "change": "\(stage.wanted)", "generation": "2",
                        "content": "\(change.content.digest)", "approvers": "\(mallory.digest)",
                    ]),
            ]
            let steps: [(String, @Sendable (any StorageSession) throws(ServerError) -> Void)] = [
                (
                    "approver",
                    { session throws(ServerError) in
                        for signature in signed.signatures {
                            _ = try session.run(
                                "INSERT INTO approver (place, identity, statement, signature) VALUES (1, $1, $2, $3)",
                                [
                                    .bytes(signature.identity.bytes), .bytes(signed.text),
                                    .bytes(signature.signature),
                                ])
                        }
                    }
                ),
                (
                    "approval",
                    { session throws(ServerError) in
                        _ = try session.run(
                            "INSERT INTO approval (change_id, identity, text, signature, created_at) VALUES ($1, $2, $3, $4, 0)",
                            [
                                .bytes(stage.wanted.bytes), .bytes(approval.signature.identity.bytes),
                                .bytes(approval.text), .bytes(approval.signature.signature),
                            ])
                    }
                ),
                (
                    "audit",
                    { session throws(ServerError) in
                        for entry in entries {
                            _ = try session.run(
                                "INSERT INTO audit (place, entry) VALUES ($1, $2)",
                                [.integer(entry.index), .bytes(entry.bytes)])
                        }
                    }
                ),
            ]
            // One after the other, and all of them together at the end.
            for count in 1...steps.count {
                let copy = try await Copy(of: stage, "forged-\(count)")
                for (_, step) in steps.prefix(count) { try await copy.engine.write(step) }
                #expect(try await copy.staysClean(stage), "\(steps[count - 1].0)")
                await copy.engine.close()
            }
            // Even an attacker who can write the file as well cannot have the content signed.
            let copy = try await Copy(of: stage, "with-file")
            for (_, step) in steps { try await copy.engine.write(step) }
            try HeadFile(copy.folder.appending(path: "head")).write(chain.head)
            #expect(try await copy.staysClean(stage))
            await copy.engine.close()
        }
    }

    @Test("Wrong, replayed and moved approvals count for nothing")
    func replayed() async throws {
        try await World.run { world in
            let first = try await world.propose().change
            let second = try await world.propose().change
            let good = try await world.statement(.bob, of: second)
            // By a stranger, with another signature, and for another change, forced where it was not.
            let stranger = try await world.statement(.mallory, of: first)
            await expectError(.invalidSignature) { try await world.catalog.add(stranger) }
            let broken = SignedApproval(
                text: good.text,
                signature: ApproverSignature(
                    identity: good.signature.identity, signature: good.signature.signature.reversed()))
            await expectError(.invalidSignature) { try await world.catalog.add(broken) }
            let forced = try ApprovalText(good.text).subject
            let moved = try ApprovalText.Subject(
                server: forced.server, app: forced.app, change: first, baseGeneration: 0, content: forced.content,
                outlook: forced.outlook, forced: [.lint], approvers: forced.approvers)
            await expectError(.notForThis) {
                try await world.catalog.add(try Approver.bob.says(.approve, moved, until: world.now + 60))
            }
            // Copied between the rows of two changes.
            try await world.approve(second)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    "INSERT INTO approval SELECT $1, identity, text, signature, created_at FROM approval WHERE change_id = $2",
                    [.bytes(first.bytes), .bytes(second.bytes)])
            }
            await expectError(.notApproved) { try await world.publisher.publish(first) }
            #expect(try await world.publisher.publish(second) == .published(generation: 1))
            try await world.everybodyFollows()
            // Approvals from before a change of approvers.
            let third = try await world.propose().change
            try await world.approve(third)
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
            await expectError(.notApproved) { try await world.publisher.publish(third) }
            try await world.approve(third, by: [.alice, .dave])
            #expect(try await world.publisher.publish(third) == .published(generation: 2))
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("An older database that is put back signs nothing, while the server runs and when it starts")
    func older() async throws {
        try await World.run { world in
            let change = try await world.propose().change
            try await world.approve(change)
            let stage = try await Stage(world)
            let copy = try await Copy(of: stage, "older")
            await copy.engine.close()
            // Before the rejection, approved by two.
            let wanted = stage.wanted
            try await world.approve(wanted, by: [.bob])
            let second = try await Copy(of: stage, "approved")
            try await world.catalog.add(try await world.statement(.carol, .reject, of: wanted))
            await second.engine.close()
            for file in ["server.db", "server.db-wal"] {
                let place = second.folder.appending(path: file)
                try? FileManager.default.removeItem(at: copy.folder.appending(path: file))
                try? FileManager.default.copyItem(at: place, to: copy.folder.appending(path: file))
            }
            try FileManager.default.removeItem(at: copy.folder.appending(path: "head"))
            try FileManager.default.copyItem(
                at: world.folder.appending(path: "head"), to: copy.folder.appending(path: "head"))
            let engine = try SQLiteEngine(copy.folder.appending(path: "server.db"), clock: world.clock)
            await expectError(.brokenChain) { try await Copy.publisher(engine, copy.folder, stage) }
            await engine.close()

            // The running server notices too: its ledger is newer than the database.
            let running = Publisher(world.catalog, folder: world.publisher.folder, secret: World.secret())
            let ledger = world.catalog.ledger
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("DELETE FROM audit WHERE place >= $1", [.integer(ledger.chain.head.count - 1)])
            }
            await expectError(.brokenChain) { try await running.publish(wanted) }
            await expectError(.brokenChain) { try await running.refresh() }
        }
    }

    @Test("Two servers cannot use one folder, also where somebody removes the file of the lock")
    func twoServers() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "lock")
            let first = try FolderLock(file)
            expectError(.folderInUse) { try FolderLock(file) }
            try FileManager.default.removeItem(at: file)
            expectError(.folderInUse) { try FolderLock(file) }
            // A program that writes next to a server has its own locks.
            withExtendedLifetime(try FolderLock.atOnce(folder.appending(path: ".head.lock"), protecting: file)) {}
            withExtendedLifetime(first) {}
        }
        try await withFolder { folder in
            do { _ = try FolderLock(folder.appending(path: "lock")) }
            _ = try FolderLock(folder.appending(path: "lock"))
        }
    }

    @Test("A lock ends with its holder, also while a child that has just been started has a copy of the descriptor")
    func inheritedLock() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "lock")
            var copies: [Int32] = []
            do {
                let lock = try FolderLock(file)
                // Copies share their lock, as those of a child do until it calls exec.
                copies = lock.descriptors.map { dup($0) }
                expectError(.folderInUse) { try FolderLock(file) }
            }
            defer { for copy in copies { close(copy) } }
            #expect(copies.count == 2 && copies.allSatisfy { $0 >= 0 })
            withExtendedLifetime(try FolderLock(file)) {}
        }
    }
}
