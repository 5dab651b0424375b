import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerModel
@testable import ServerStore

/// Three machines that share the hosts to watch.
@Suite(
    "Hosts watched by several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct ReplicaWatchTests {
    private static let hosts = 40

    /// Has the database note who takes which host when, and when it is given back.
    private static let noting = """
        -- Nobody has this one here.
        UPDATE host SET next_poll_at = next_poll_at + 100000 WHERE name NOT LIKE 'h%';
        CREATE TABLE look (host BIGINT, token BYTEA, round INTEGER, ended BOOLEAN);
        CREATE TABLE look_round (round INTEGER);
        INSERT INTO look_round VALUES (1);
        CREATE FUNCTION note_look() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.lease_token IS NOT NULL AND NEW.lease_token IS DISTINCT FROM OLD.lease_token THEN
                INSERT INTO look SELECT NEW.id, NEW.lease_token, round, false FROM look_round;
            ELSIF NEW.lease_token IS NULL AND OLD.lease_token IS NOT NULL THEN
                UPDATE look SET ended = true WHERE host = NEW.id AND token = OLD.lease_token;
            ELSIF NEW.lease_token IS NULL AND NEW.next_poll_at > OLD.next_poll_at THEN
                -- Somebody who no longer has it writes down what was seen.
                INSERT INTO look SELECT NEW.id, NULL, round, true FROM look_round;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER note_look AFTER UPDATE ON host FOR EACH ROW EXECUTE FUNCTION note_look();
        """

    /// The database, and what it has noted.
    private struct Notes {
        let postgres: PostgresServer
        let database: String

        func run(_ sql: String) async throws { try await postgres.run(sql, in: database) }

        private func count(_ sql: String) async throws -> Int {
            let text = try await postgres.run("SELECT 'n=' || (\(sql));", in: database)
            return try #require(text.firstMatch(of: /n=([0-9]+)/).flatMap { Int($0.1) }, "\(text)")
        }

        func taken(in round: Int) async throws -> Int {
            try await count("SELECT count(*) FROM look WHERE round = \(round)")
        }

        func ended(in round: Int) async throws -> Int {
            try await count("SELECT count(*) FROM look WHERE round = \(round) AND ended")
        }

        func endedHosts(in round: Int) async throws -> Int {
            try await count("SELECT count(DISTINCT host) FROM look WHERE round = \(round) AND ended")
        }

        /// The interval of every host is over.
        func passInterval(_ round: Int) async throws {
            try await run(
                """
                UPDATE look_round SET round = \(round);
                UPDATE host SET next_poll_at = next_poll_at - 400 WHERE name LIKE 'h%';
                """)
        }

        /// Every lease is over.
        func endLeases() async throws { try await run("UPDATE host SET leased_until = leased_until - 200;") }
    }

    @Test(
        "No host is watched twice in its interval, and none is forgotten, when machines are suspended or killed as they look"
    )
    func everyHost() async throws {
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        let machine = ReplicaSite.Machine(options: ["--allow", "127.0.0.0/8"])
        try await ReplicaSite.run(
            on: try postgres.address(name), [machine, machine, machine]
        ) { replicated in
            let site = replicated.site
            let leaf = try site.root.leaf(names: [.dns("*.example.com")])
            try await withLoopbackTLSServer(serving: leaf) { server in
                try await PostgresProxy.run(before: server.port) { way in
                    let notes = Notes(postgres: postgres, database: name)
                    for number in 1...Self.hosts {
                        let host = try CatalogHost(
                            name: "h\(number).example.com", port: Int64(way.port), dial: "127.0.0.1")
                        try await site.open.catalog.set(host, of: site.app, by: "test")
                        try await site.open.catalog.announce(
                            CertificateChain(leaf.chain), from: site.now, on: host, of: site.app, by: "test")
                    }
                    try await notes.run(Self.noting)
                    try await replicated.start()
                    try await everyHostIsSeen(1, notes)
                    try await notes.passInterval(2)
                    try await everyHostIsSeen(2, notes)
                    #expect(try await notes.taken(in: 1) == Self.hosts)
                    #expect(try await notes.taken(in: 2) == Self.hosts)

                    for (round, isKilled) in [(3, false), (4, true)] {
                        // One has taken them all, and hosts say nothing.
                        let victim = replicated.replicas[0]
                        for other in replicated.replicas[1...] { await other.stop() }
                        way.set(.silent)
                        try await notes.passInterval(round)
                        try await eventually("machine 1 looks") { try await notes.taken(in: round) == Self.hosts }
                        if isKilled { await victim.kill() } else { victim.running?.signal(SIGSTOP) }
                        way.set(.nothing)
                        for other in replicated.replicas[1...] { try await other.start() }
                        try await notes.endLeases()
                        try await everyHostIsSeen(round, notes)
                        if isKilled { try await victim.start() } else { victim.running?.signal(SIGCONT) }
                    }
                    // Late results were discarded, and a machine that came back continues with the rest.
                    for other in replicated.replicas[1...] { await other.stop() }
                    try await notes.passInterval(5)
                    try await everyHostIsSeen(5, notes)
                    for round in [3, 4] {
                        #expect(try await notes.ended(in: round) == Self.hosts)
                        #expect(try await notes.taken(in: round) == 2 * Self.hosts)
                    }
                    #expect(try await notes.taken(in: 5) == Self.hosts)
                }
            }
        }
    }

    private func everyHostIsSeen(_ round: Int, _ notes: Notes) async throws {
        try await eventually("every host is seen in round \(round)") {
            try await notes.endedHosts(in: round) == Self.hosts
        }
        #expect(try await notes.ended(in: round) == Self.hosts)
    }
}
