import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// Somebody can write to the database, and has neither an approver's key nor the file with the head of the audit.
@Suite("Attacks on the database")
struct AttackTests {
    /// What else is going on while somebody writes into the database.
    enum Situation: CaseIterable {
        case nothing, openCanary, replacedApprovers, withdrawnDocument

        /// The tables that have to do with it; nil for all.
        var tables: Set<String>? {
            self == .nothing
                ? nil : ["app", "approval", "approver", "audit", "change", "document", "outbox", "signing_key"]
        }
    }

    /// A world with a published change, and one that only the attacker wants.
    private struct Stage {
        let world: World
        let published: RandomID
        let wanted: RandomID
        let malicious: TestCertificate
        /// A path at which nothing is published anymore.
        let withdrawn: String?

        init(_ world: World, _ situation: Situation = .nothing) async throws {
            self.world = world
            // Two formats, one of which is signed again in each round: an outlook of all takes a second.
            let formats = World.formats.filter { $0.kind == .list || $0.kind == .trustServer }
            let first = try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
            withdrawn = situation == .withdrawnDocument ? "lists/bank.json" : nil
            switch situation {
            case .nothing: published = first
            case .openCanary, .replacedApprovers:
                published = try await world.approved(formats).change
                guard case .canary = try await world.publisher.publish(published).stage else {
                    throw CancellationError()
                }
            case .withdrawnDocument:
                let rest = formats.filter { $0.kind != .list }
                published = try await world.publish(world.draft { $0.formats = rest }, forcing: [.lint, .canary])
                #expect(world.publisher.live.current.document(at: "lists/bank.json".utf8) == nil)
            }
            malicious = try world.root.leaf(names: [.dns(World.host)])
            let content = try await world.draft { $0.formats = formats }
            let bad = try Content(
                app: world.app,
                hosts: [
                    ContentHost(
                        name: World.host,
                        certificates: [.init(fingerprint: Digest(of: malicious.der), expires: content.end)])
                ], formats: content.formats, end: content.end)
            // Whoever may propose has it stored; one of two needed people was fooled.
            wanted = try await world.propose(bad, forcing: [.lint, .replay, .outlook, .canary]).change
            if situation == .replacedApprovers {
                // Two were fooled, and their approvals ended before it was published.
                try await world.approve(wanted, by: [.alice, .carol])
                let next = try ApproverStatement(
                    after: try await world.catalog.approvers().head,
                    approvers: ApproverSet(
                        try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
                try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
            }
            try await world.approve(wanted, by: [.alice])
        }

        /// Whether nothing that was signed or served names the attacker's certificate, and nothing that is no longer
        /// published is back.
        func isClean(_ live: PublishedSnapshot, _ folder: URL) throws -> Bool {
            let digest = Digest(of: malicious.der)
            let key = Digest(of: try malicious.subjectPublicKeyInfo)
            let needles = [
                Base64.encode(digest.octets), "\(digest)", Base64.encode(key.octets),
                Base64.encode(try malicious.subjectPublicKeyInfo),
            ]
            var texts = live.documents.values.map(\.octets)
            for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                ?? .init()
            where !file.hasDirectoryPath {
                texts.append(Array(try Data(contentsOf: file)))
            }
            let entries = live.apps.values.flatMap(\.entries).map(\.fingerprint)
            if let withdrawn {
                let file = folder.appending(path: withdrawn).path
                guard live.document(at: withdrawn.utf8) == nil, !FileManager.default.fileExists(atPath: file) else {
                    return false
                }
            }
            return !texts.contains { text in needles.contains { Data(text).range(of: Data($0.utf8)) != nil } }
                && !entries.contains(needles[0])
        }
    }

    /// A copy of the server's folder, with a server that runs on it.
    private struct Copy {
        let folder: URL
        let engine: SQLiteEngine
        let publisher: Publisher

        init(of stage: Stage, _ name: String) async throws {
            let world = stage.world
            folder = world.folder.appending(path: "copies").appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // The write-ahead log has what the database has not.
            for file in ["server.db", "server.db-wal", "head"] {
                try? FileManager.default.copyItem(
                    at: world.folder.appending(path: file), to: folder.appending(path: file))
            }
            engine = try SQLiteEngine(folder.appending(path: "server.db"), clock: world.clock)
            publisher = try await Self.publisher(engine, folder, stage)
            try await publisher.follow()
        }

        static func publisher(_ engine: SQLiteEngine, _ folder: URL, _ stage: Stage) async throws -> Publisher {
            let catalog = try await Catalog(
                engine, server: Story.server, genesis: Digest(of: stage.world.story.genesis.text),
                head: HeadFile(folder.appending(path: "head")), time: World.time(stage.world.clock, in: folder))
            return Publisher(
                catalog,
                folder: PublicFolder(folder.appending(path: "public"), versions: folder.appending(path: "versions")),
                secret: World.secret())
        }

        /// Everything that a server does, and the attacker's change.
        func work(_ publisher: Publisher, _ stage: Stage) async -> [any Error] {
            var errors: [any Error] = []
            do { try await publisher.publish(stage.wanted) } catch { errors.append(error) }
            do { try await publisher.publish(stage.published) } catch { errors.append(error) }
            do { _ = try await publisher.renew() } catch { errors.append(error) }
            do { try await publisher.follow() } catch { errors.append(error) }
            return errors
        }

        /// Runs the server as it was and once more from the beginning, and says whether all that it signed was approved.
        func staysClean(_ stage: Stage) async throws -> Bool {
            _ = await work(publisher, stage)
            var isClean = try stage.isClean(publisher.live.current, folder.appending(path: "public"))
            if let again = try? await Self.publisher(engine, folder, stage) {
                _ = await work(again, stage)
                isClean =
                    try isClean
                    && stage.isClean(again.live.current, folder.appending(path: "public"))
            }
            return isClean
        }
    }

    @Test(
        "Whatever is written into any column of any table, nothing is signed that was not approved",
        arguments: Situation.allCases)
    func everyColumn(_ situation: Situation) async throws {
        try await World.run(canary: 86_400) { world in
            let stage = try await Stage(world, situation)
            let plain = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            let tables = try plain.run(text: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
                .map { try $0.text(0) }
            #expect(tables.count >= 20)
            var attacks = 0
            for table in tables where situation.tables?.contains(table) ?? true {
                let columns = try plain.run(text: "SELECT name FROM pragma_table_info('\(table)')").map {
                    try $0.text(0)
                }
                let copy = try await Copy(of: stage, table)
                let connection = try SQLiteConnection(copy.folder.appending(path: "server.db").path, clock: world.clock)
                try connection.execute("PRAGMA ignore_check_constraints = ON")
                for column in columns {
                    let rows = try connection.run(text: "SELECT rowid, \(column) FROM \(table) LIMIT 2")
                    for row in rows {
                        for value in Self.values(instead: row[1], others: rows.map { $0[1] }) {
                            let update = "UPDATE \(table) SET \(column) = $1 WHERE rowid = $2"
                            guard (try? connection.run(text: update, [value, row[0]])) != nil else { continue }
                            attacks += 1
                            #expect(try await copy.staysClean(stage), "\(table).\(column)")
                            _ = try? connection.run(text: update, [row[1], row[0]])
                        }
                    }
                }
                await copy.engine.close()
            }
            #expect(attacks > 60)
            // The control: once it is approved, the same look finds the certificate.
            try await world.approve(stage.wanted, by: [.bob])
            let generation = world.catalog.ledger.generation(of: world.app) + 1
            #expect(try await world.publisher.publish(stage.wanted) == .published(generation: generation))
            #expect(try !stage.isClean(world.publisher.live.current, world.folder.appending(path: "public")))
        }
    }

    private static func values(instead value: StorageValue, others: [StorageValue]) -> [StorageValue] {
        let swapped = others.first { $0 != value }
        let changed: StorageValue =
            switch value {
            case .integer(let number): .integer(number + 1)
            case .text(let text): .text("\(text)x")
            case .octets(let octets): .octets(octets.isEmpty ? [1] : [octets[0] ^ 1] + octets.dropFirst())
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
                try chain.follow(entry.octets)
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
                                    .octets(signature.identity.octets), .octets(signed.text),
                                    .octets(signature.signature),
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
                                .octets(stage.wanted.octets), .octets(approval.signature.identity.octets),
                                .octets(approval.text), .octets(approval.signature.signature),
                            ])
                    }
                ),
                (
                    "audit",
                    { session throws(ServerError) in
                        for entry in entries {
                            _ = try session.run(
                                "INSERT INTO audit (place, entry) VALUES ($1, $2)",
                                [.integer(entry.index), .octets(entry.octets)])
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
            // Even whoever can write the file as well cannot have the content signed.
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
                    [.octets(first.octets), .octets(second.octets)])
            }
            await expectError(.notApproved) { try await world.publisher.publish(first) }
            #expect(try await world.publisher.publish(second) == .published(generation: 1))
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

    @Test("Two servers cannot use one folder")
    func twoServers() async throws {
        try await withFolder { folder in
            let first = try FolderLock(folder.appending(path: "lock"))
            expectError(.folderInUse) { try FolderLock(folder.appending(path: "lock")) }
            withExtendedLifetime(first) {}
        }
        try await withFolder { folder in
            do { _ = try FolderLock(folder.appending(path: "lock")) }
            _ = try FolderLock(folder.appending(path: "lock"))
        }
    }
}
