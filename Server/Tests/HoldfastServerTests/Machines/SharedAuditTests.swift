import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The end of the audit, as far as each machine trusts what is in the database.
@Suite(
    "The audit of several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct SharedAuditTests {
    /// The rows that say where the audit ends.
    struct State: Sendable {
        let audit: [StorageRow]
        let head: [StorageRow]

        init(_ engine: any StorageEngine) async throws {
            (audit, head) = try await engine.read { session throws(ServerError) in
                (
                    try session.run("SELECT place, entry FROM audit ORDER BY place"),
                    try session.run("SELECT count, digest, secret_id, code FROM audit_head")
                )
            }
        }

        /// Puts them in the place of what is there.
        func restore(_ engine: any StorageEngine) async throws {
            try await engine.write { session throws(ServerError) in
                try session.run("DELETE FROM audit")
                for row in audit {
                    try session.run("INSERT INTO audit (place, entry) VALUES ($1, $2)", [row[0], row[1]])
                }
                try session.run("DELETE FROM audit_head")
                for row in head {
                    try session.run(
                        "INSERT INTO audit_head (id, count, digest, secret_id, code) VALUES (1, $1, $2, $3, $4)",
                        [row[0], row[1], row[2], row[3]])
                }
            }
        }
    }

    private func heads(_ machine: ServerFolder) throws -> [AuditHead] { try machine.head.heads() }

    private func add(_ name: String, _ catalog: Catalog, _ world: World) async throws {
        try await catalog.set(try CatalogHost(name: name), of: world.app, by: "test")
    }

    @Test(
        "Each machine takes what the others write, and its file is where it has seen the end",
        arguments: StorageKind.remote)
    func following(_ kind: StorageKind) async throws {
        try await World.withMachines(kind) { world, second in
            try await world.working(on: second) { other in
                for number in 0..<3 {
                    try await add("a-\(number).example.com", world.catalog, world)
                    #expect(try await other.catalog.hosts(of: world.app).count == 2 + 2 * number)
                    #expect(try heads(second) == [world.catalog.ledger.chain.head])
                    try await add("b-\(number).example.com", other.catalog, world)
                    #expect(try await world.catalog.hosts(of: world.app).count == 3 + 2 * number)
                    #expect(try heads(world.server) == [other.catalog.ledger.chain.head])
                }
                // Both at once.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        let catalog = number.isMultiple(of: 2) ? world.catalog : other.catalog
                        group.addTask { try await add("c-\(number).example.com", catalog, world) }
                        group.addTask {
                            let hosts = try await catalog.hosts(of: world.app)
                            #expect(!hosts.isEmpty)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await other.catalog.hosts(of: world.app).count == 27)
                #expect(try await world.catalog.hosts(of: world.app).count == 27)
                #expect(try await other.publisher.examine().filter(\.isFault) == [])
            }
        }
    }

    @Test("A machine without a head begins with the one that is signed, and says so; it needs the secret for that")
    func joining() async throws {
        try await World.withMachines(.postgresql) { world, _ in
            let third = try world.machine("third", with: ["configuration.json"])
            defer { try? FileManager.default.removeItem(at: third.url) }
            let secret = try world.secretFile.read(outside: world.folder)
            try FileManager.default.removeItem(at: world.secretFile.url)
            await expectError(.secretFile) { try await world.working(on: third) { _ in } }
            #expect(!FileManager.default.fileExists(atPath: third.head.url.path))
            try world.secretFile.create(secret, outside: world.folder)
            try await world.working(on: third) { open in
                #expect(open.catalog.isJoining)
                #expect(try heads(third) == [world.catalog.ledger.chain.head])
                try await add("www.example.com", open.catalog, world)
            }
            try await world.working(on: third) { open in #expect(!open.catalog.isJoining) }
            #expect(try await world.catalog.hosts(of: world.app).count == 2)
        }
    }

    @Test("An older copy of the database is refused by every machine that saw more, whatever it says about itself")
    func older() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let before = try await State(world.engine)
            let behind = try world.machine("behind")
            defer { try? FileManager.default.removeItem(at: behind.url) }
            try await world.working(on: second) { other in
                try await add("www.example.com", world.catalog, world)
                #expect(try await other.catalog.hosts(of: world.app).count == 2)
                try await before.restore(world.engine)
                for catalog in [world.catalog, other.catalog] {
                    await expectError(.brokenChain) { try await catalog.hosts(of: world.app) }
                    await expectError(.brokenChain) { try await add("m.example.com", catalog, world) }
                }
            }
            for machine in [world.server, second] {
                await expectError(.brokenChain) { try await world.working(on: machine) { _ in } }
            }
            try await behindKnows(behind, before, world)
            // A machine that saw no more cannot know, and the others refuse what it writes.
            try await world.working(on: behind) { try await add("evil.example.com", $0.catalog, world) }
            for machine in [world.server, second] {
                await expectError(.brokenChain) { try await world.working(on: machine) { _ in } }
            }
        }
    }

    /// A signature of more than there is says that this is an older copy, also to a machine that saw no more.
    private func behindKnows(_ behind: ServerFolder, _ before: State, _ world: World) async throws {
        try await world.engine.write { session throws(ServerError) in
            let end = AuditHead(count: Int64(before.audit.count) + 1, digest: Digest(of: [1]))
            try SignedHead(end, by: AuditSeal(World.secret(), server: Story.server)).store(session)
        }
        await expectError(.brokenChain) { try await world.working(on: behind) { _ in } }
        try await before.restore(world.engine)
    }

    @Test("What somebody without the secret wrote is refused by every machine, also by one that begins")
    func foreign() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let right = try await State(world.engine)
            let third = try world.machine("third", with: ["configuration.json"])
            let entry = try world.catalog.ledger.chain.next(.resumed, by: "operator", at: Story.now)
            let end = AuditHead(count: entry.index + 1, digest: Digest(of: entry.bytes))
            let other = SignedHead(end, by: AuditSeal(SealedKeyTests.secret(9), server: Story.server))
            let own = AuditSeal(World.secret(), server: Story.server)
            let elsewhere = SignedHead(end, by: AuditSeal(World.secret(), server: Story.id(9)))
            let append: @Sendable (any StorageSession) throws(ServerError) -> Void = { session throws(ServerError) in
                try session.run(
                    "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .bytes(entry.bytes)])
            }
            let point: @Sendable (any StorageSession, [UInt8]) throws(ServerError) -> Void = {
                session, code throws(ServerError) in
                try session.run(
                    "UPDATE audit_head SET count = $1, digest = $2, code = $3",
                    [.integer(end.count), .bytes(end.digest.bytes), .bytes(code)])
            }
            let attacks: [(String, ServerError.Code, @Sendable (any StorageSession) throws(ServerError) -> Void)] = [
                ("an entry", .brokenChain, append),
                (
                    "an entry and no row", .brokenChain,
                    { session throws(ServerError) in
                        try append(session)
                        try session.run("DELETE FROM audit_head")
                    }
                ),
                (
                    "an entry and a row", .brokenChain,
                    { session throws(ServerError) in
                        try append(session)
                        try point(session, other.code)
                    }
                ),
                (
                    "an entry and a row of another server", .brokenChain,
                    { session throws(ServerError) in
                        try append(session)
                        try point(session, elsewhere.code)
                    }
                ),
                (
                    "an entry and a row of another secret", .secretFile,
                    { session throws(ServerError) in
                        try append(session)
                        try other.store(session, replacingSecret: true)
                    }
                ),
                (
                    "a cut", .brokenChain,
                    { session throws(ServerError) in
                        try session.run("DELETE FROM audit WHERE place = (SELECT max(place) FROM audit)")
                    }
                ),
            ]
            #expect(own.isRight(SignedHead(end, by: own).code, of: end))
            for (name, code, attack) in attacks {
                try await world.engine.write { session throws(ServerError) in try attack(session) }
                for machine in [world.server, second] {
                    await expectError(code) { try await world.working(on: machine) { _ in Issue.record("\(name)") } }
                }
                await expectError(code) { try await world.catalog.hosts(of: world.app) }
                await #expect(throws: ServerError.self, "\(name)") {
                    try await world.working(on: third) { _ in }
                }
                #expect(!FileManager.default.fileExists(atPath: third.head.url.path))
                try await right.restore(world.engine)
            }
            try await world.working(on: third) { #expect($0.catalog.isJoining) }
            try FileManager.default.removeItem(at: third.url)
        }
    }

    @Test("What a command without the secret writes is taken by the others once its own machine's server has signed it")
    func unsigned() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let elsewhere = world.outside.appending(path: "none-\(world.folder.lastPathComponent)")
            try await world.working(on: second) { other in
                var mute = ServerFolder(world.folder, secret: elsewhere)
                mute.databaseClock = world.clock
                try await world.working(on: mute) { command in
                    #expect(command.secretProblem != nil)
                    try await add("www.example.com", command.catalog, world)
                }
                let error = await expectError(.brokenChain) { try await other.catalog.hosts(of: world.app) }
                #expect(error?.remedy.contains("a command without the secret") == true)
                #expect(try await world.catalog.hosts(of: world.app).count == 2)
                #expect(try await world.catalog.headDoubt() != nil)
                try await world.catalog.signHead()
                #expect(try await world.catalog.headDoubt() == nil)
                #expect(try await other.catalog.hosts(of: world.app).count == 2)
                // Without the secret, no machine takes entries of others.
                try await add("m.example.com", other.catalog, world)
                let refusal = await expectError(.secretFile) { try await world.working(on: mute) { _ in } }
                #expect(refusal?.remedy.contains("Copy the secret file") == true)
            }
        }
    }

    @Test("A database of before has no signature: whose file has its end goes on, and signs it for the others")
    func before() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await add("www.example.com", world.catalog, world)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("DELETE FROM audit_head")
            }
            await expectError(.brokenChain) { try await world.working(on: second) { _ in } }
            try await world.opened { own in
                try await own.catalog.signHead()
                #expect(try await own.catalog.headDoubt() == nil)
            }
            let hosts = try await world.working(on: second) { try await $0.catalog.hosts(of: world.app) }
            #expect(hosts.count == 2)
        }
    }

    @Test("A machine that crashed in a transaction goes on, whether that was written or another machine wrote instead")
    func crashed() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let before = world.catalog.ledger.chain.head
            try await add("www.example.com", world.catalog, world)
            let after = world.catalog.ledger.chain.head
            for next in [AuditHead(count: before.count + 1, digest: Digest(of: [1])), after] {
                try second.head.write(before, next: next)
                try await world.working(on: second) { other in
                    #expect(other.catalog.ledger.chain.head == world.catalog.ledger.chain.head)
                    try await other.catalog.set(world.catalogHost, of: world.app, by: "test")
                    #expect(try heads(second) == [other.catalog.ledger.chain.head])
                }
                _ = try await world.catalog.hosts(of: world.app)
            }
            #expect(world.catalog.ledger.chain.head.count > after.count)
        }
    }

    @Test("After reseal the other machines say that they need the new secret, and go on with it")
    func resealed() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let old = world.outside.appending(path: "old-\(world.folder.lastPathComponent)")
            try FileManager.default.copyItem(at: world.secretFile.url, to: old)
            var late = ServerFolder(second.url, secret: old)
            late.databaseClock = world.clock
            try await world.working(on: late) { running in
                var generator = SystemRandomNumberGenerator()
                _ = try await world.server.reseal(copy: nil, clock: world.clock, using: &generator, by: "test")
                let error = await expectError(.secretFile) { try await running.catalog.hosts(of: world.app) }
                #expect(error?.remedy.contains("reseal") == true)
                await expectError(.secretFile) { try await add("evil.example.com", running.catalog, world) }
            }
            await expectError(.secretFile) { try await world.working(on: late) { _ in } }
            try await world.working(on: second) { other in
                #expect(other.secretProblem == nil)
                try await add("www.example.com", other.catalog, world)
            }
            try await world.opened { own in
                let (hosts, findings) = (try await own.catalog.hosts(of: world.app), try await own.publisher.examine())
                #expect(hosts.count == 2 && findings.filter(\.isFault) == [])
            }
            try FileManager.default.removeItem(at: old)
        }
    }

    @Test("A clock that is a minute from the database's is believed by nobody, until it is set right")
    func clocks() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let clock = ManualClock(now: world.clock.now)
            try await world.working(on: second, clock: clock) { other in
                for (offset, isRight) in [(60, true), (61, false), (-61, false), (366 * 86_400, false), (-59, true)] {
                    clock.set(world.clock.now.addingTimeInterval(TimeInterval(offset)))
                    try await other.catalog.look { [catalog = other.catalog] session, _ throws(ServerError) in
                        try catalog.compareClocks(session)
                    }
                    #expect((other.catalog.clockProblem == nil) == isRight, "\(offset)")
                    #expect((other.catalog.signingTime != nil) == isRight, "\(offset)")
                    guard !isRight else { continue }
                    await expectError(.clock) { try await add("www.example.com", other.catalog, world) }
                    await expectError(.clock) { try await other.catalog.resumeClock(by: "test") }
                }
                try await add("www.example.com", other.catalog, world)
            }
            // One that starts like that believes nothing of it, and goes on when it is right.
            clock.set(world.clock.now.addingTimeInterval(366 * 86_400))
            try await world.working(on: second, clock: clock) { other in
                #expect(other.catalog.clockProblem?.found.contains("2027") == true)
                clock.set(world.clock.now)
                try await other.catalog.look { [catalog = other.catalog] session, _ throws(ServerError) in
                    try catalog.compareClocks(session)
                }
                #expect(other.catalog.clockProblem == nil)
            }
        }
    }

    @Test("A machine that has not read the database for a minute says so")
    func outOfReach() async throws {
        try await World.withMachines(.postgresql) { world, _ in
            _ = try await world.catalog.now()
            #expect(!world.catalog.isOutOfReach())
            #expect(!world.catalog.isOutOfReach(at: .now + .seconds(50)))
            #expect(world.catalog.isOutOfReach(at: .now + .seconds(61)))
            func obstacles(_ later: Duration) -> [String] {
                ServerProcess.health(of: world.publisher, secretProblem: nil, isReading: false, at: .now + later)
                    .unwritable
            }
            let words = "The database was not read for a minute."
            #expect(!obstacles(.seconds(50)).contains(words) && obstacles(.seconds(61)).contains(words))
        }
        try await World.run { world in #expect(!world.catalog.isOutOfReach(at: .now + .seconds(3_600))) }
    }
}
