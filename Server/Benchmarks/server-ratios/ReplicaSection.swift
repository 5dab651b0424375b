import Foundation
import Holdfast
import HoldfastTesting

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// The throughput of one, two and three machines on one PostgreSQL, all of them on this machine: they share its
/// processors, so the figures show the cost of sharing the work, and not the gain of more machines.
struct ReplicaSection {
    private let settings: BenchmarkSettings
    private let folder: URL
    private let clock = SystemWallClock()

    /// The number of published changes per number of machines.
    private static let changes = 30

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    /// A serving machine.
    private struct Machine {
        let folder: URL
        let process: RunningProcess
    }

    func measure(_ report: inout Report) async throws {
        guard let program = settings.program else {
            throw BenchmarkError("--program names a release build of holdfast-server")
        }
        report.section("Machines on one PostgreSQL, all of them here")
        let postgres = try await Postgres.start(in: folder)
        defer { postgres.end() }
        try await watch(program, postgres, &report)
        try await publish(program, postgres, &report)
    }

    // MARK: Machines

    /// Lets some machines serve while a closure runs.
    private func withMachines<Value>(
        _ count: Int, of filled: FilledServer, _ options: [String], _ program: URL,
        _ body: ([Machine]) async throws -> Value
    ) async throws -> Value {
        var machines: [Machine] = []
        let result: Result<Value, any Error>
        do {
            try await start(count, of: filled, options, program, &machines)
            result = .success(try await body(machines))
        } catch {
            result = .failure(error)
        }
        for machine in machines { machine.process.end() }
        for machine in machines {
            while machine.process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        }
        return try result.get()
    }

    private func start(
        _ count: Int, of filled: FilledServer, _ options: [String], _ program: URL, _ machines: inout [Machine]
    ) async throws {
        for number in 1...count {
            let own = number == 1 ? filled.folder.url : filled.folder.url.appendingPathExtension("\(number)")
            if number > 1 {
                try? FileManager.default.removeItem(at: own)
                try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
                for file in ["configuration.json", "head"] {
                    try FileManager.default.copyItem(
                        at: filled.folder.url.appending(path: file), to: own.appending(path: file))
                }
            }
            let log = own.appendingPathExtension("log")
            try? FileManager.default.removeItem(at: log)
            let process = try RunningProcess(
                URL(filePath: "/bin/sh"),
                [
                    "-c", #"exec "$0" "$@" 2>"$LOG""#.replacing("$LOG", with: log.path), program.path, "serve",
                    "--data",
                    own.path, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                ] + options, in: folder)
            machines.append(Machine(folder: own, process: process))
            while (try? String(contentsOf: log, encoding: .utf8))?.contains("listening for administration") != true {
                guard process.isRunning else {
                    throw BenchmarkError(
                        "machine \(number) ended: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    // MARK: Watching

    private func watch(_ program: URL, _ postgres: Postgres, _ report: inout Report) async throws {
        let (nginx, root, leaf) = try await WatchSection.hosts(in: folder)
        defer { nginx.process.end() }
        let place = folder.appending(path: "watched")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let database = try await postgres.database("watched")
        let filled = try await FilledServer(
            in: place, try WatchSection.shape(settings.hosts, nginx.port, root, leaf, clock), clock: clock,
            database: database)
        var alone = 0.0
        for count in 1...3 {
            _ = try await postgres.run("UPDATE host SET next_poll_at = 4000000000, leased_until = NULL;", in: "watched")
            let found = try await withMachines(count, of: filled, ["--allow", "127.0.0.0/8"], program) { _ in
                try await round(postgres)
            }
            let hourly = Double(settings.hosts) / found.elapsed * 3_600
            if count == 1 {
                alone = hourly
                report.state("hosts watched in an hour by one machine", String(format: "%.0f", hourly))
            } else {
                report.compare(
                    "hosts watched in an hour by \(count) machines", String(format: "%.0f", hourly), beside: "by one",
                    ratio: hourly / alone)
            }
            report.state(
                "statements for a round over \(settings.hosts) hosts by \(count)",
                "\(found.statements), \(Report.number(Double(found.statements) / Double(settings.hosts))) for each, "
                    + "\(found.rows) rows")
        }
    }

    /// All hosts are due, and are probed.
    private func round(_ postgres: Postgres) async throws -> (elapsed: Double, statements: Int, rows: Int) {
        // By then the reads of the start have ended.
        try await Task.sleep(for: .seconds(10))
        _ = try await postgres.run("SELECT pg_stat_statements_reset();")
        let begin = ContinuousClock.now
        _ = try await postgres.run("UPDATE host SET next_poll_at = 0;", in: "watched")
        while try await postgres.value("SELECT count(*) FROM host WHERE next_poll_at = 0;", in: "watched") > 0 {
            try await Task.sleep(for: .milliseconds(100))
        }
        let elapsed = (ContinuousClock.now - begin).seconds
        return (elapsed, try await asked("calls", postgres), try await asked("rows", postgres))
    }

    /// The statements of machines in the database since the figures were reset, or their rows.
    private func asked(_ column: String, _ postgres: Postgres) async throws -> Int {
        try await postgres.value(
            """
            SELECT coalesce(sum(\(column)), 0)::bigint FROM pg_stat_statements JOIN pg_database ON oid = dbid \
            WHERE datname = 'watched' AND query NOT LIKE 'SELECT count(*) FROM host WHERE next_poll_at%' \
            AND query NOT LIKE 'UPDATE host SET next_poll_at%';
            """)
    }

    // MARK: Publishing

    private func publish(_ program: URL, _ postgres: Postgres, _ report: inout Report) async throws {
        let place = folder.appending(path: "published")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let database = try await postgres.database("published")
        let end = ListeningServer.now + FilledServer.life
        // Three rounds, and one more change for the machine that takes over after the kill.
        let apps = 3 * Self.changes + 2
        @Sendable func names(_ app: Int) -> [String] { (0..<2).map { "h\($0).app-\(app).example" } }
        let shape = FilledServer.Shape(
            apps: apps,
            hosts: { app in
                try names(app).map { name in
                    try ContentHost(
                        name: name, certificates: [.init(fingerprint: Digest(of: Array(name.utf8)), expires: end)])
                }
            }, watched: { app in try names(app).map { try CatalogHost(name: $0, dial: "127.0.0.1") } })
        let filled = try await FilledServer(in: place, shape, clock: clock, database: database)
        let changes = try await filled.approvedChanges(of: 0..<apps, clock: clock)
        var alone = 0.0
        for count in 1...3 {
            let own = Array(changes[(count - 1) * Self.changes..<count * Self.changes])
            let (elapsed, failover) = try await withMachines(count, of: filled, ["--no-watch"], program) { machines in
                let elapsed = try await Self.publish(own, on: machines, program)
                guard count == 3 else { return (elapsed, 0.0) }
                return (elapsed, try await self.failover(machines, Array(changes.suffix(2)), program))
            }
            let hourly = Double(Self.changes) / elapsed * 3_600
            if count == 1 {
                alone = hourly
                report.state("changes published in an hour by commands on one machine", String(format: "%.0f", hourly))
            } else {
                report.compare(
                    "changes published in an hour on \(count) machines", String(format: "%.0f", hourly),
                    beside: "on one", ratio: hourly / alone)
            }
            if count == 3 {
                report.state("after a kill, until another machine has published", Report.time(failover))
            }
        }
    }

    /// Each machine publishes its share, one after the other.
    private static func publish(_ changes: [RandomID], on machines: [Machine], _ program: URL) async throws -> Double {
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, machine) in machines.enumerated() {
                let part = changes.enumerated().filter { $0.offset % machines.count == index }.map(\.element)
                group.addTask {
                    for change in part { try await publish(change, on: machine, program) }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - begin).seconds
    }

    private static func publish(_ change: RandomID, on machine: Machine, _ program: URL) async throws {
        let said = try await ForeignProgram.run(
            program.path, ["publish", "\(change)", "--data", machine.folder.path], in: machine.folder)
        guard said.contains("published: generation") else { throw BenchmarkError(said) }
    }

    /// One machine and its command die in the middle of a publication, and another one publishes.
    private func failover(_ machines: [Machine], _ changes: [RandomID], _ program: URL) async throws -> Double {
        let dying = try RunningProcess(
            program, ["publish", "\(changes[0])", "--data", machines[0].folder.path], in: folder)
        try await Task.sleep(for: .milliseconds(100))
        dying.end()
        machines[0].process.end()
        let begin = ContinuousClock.now
        var attempts = 0
        while true {
            do {
                try await Self.publish(changes[1], on: machines[1], program)
                return (ContinuousClock.now - begin).seconds
            } catch {
                attempts += 1
                guard attempts < 100 else { throw error }
            }
        }
    }
}
