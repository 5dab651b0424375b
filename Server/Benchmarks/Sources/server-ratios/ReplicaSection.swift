import Foundation
import Holdfast
import HoldfastTesting

@testable import HoldfastServer

/// What one, two and three machines on one PostgreSQL get done, all of them on this machine: they share its processors, so
/// the figures say what sharing the work costs, and not what more machines bring.
struct ReplicaSection {
    private let settings: BenchmarkSettings
    private let folder: URL
    private let clock = SystemWallClock()

    /// How many changes are published by how many machines.
    private static let changes = 30

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    /// A machine that serves.
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

    private func machines(
        _ count: Int, of filled: FilledServer, _ options: [String], _ program: URL
    ) async throws -> [Machine] {
        var machines: [Machine] = []
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
                    "-c", #"exec "$0" "$@" 2>"$LOG""#.replacing("$LOG", with: log.path), program.path, "serve", "--data",
                    own.path, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                ] + options, in: folder)
            while (try? String(contentsOf: log, encoding: .utf8))?.contains("listening for administration") != true {
                guard process.isRunning else {
                    throw BenchmarkError("machine \(number) ended: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            machines.append(Machine(folder: own, process: process))
        }
        return machines
    }

    private func end(_ machines: [Machine]) async throws {
        for machine in machines { machine.process.end() }
        for machine in machines {
            while machine.process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
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
            let machines = try await machines(count, of: filled, ["--allow", "127.0.0.0/8"], program)
            // What a start reads is over by then.
            try await Task.sleep(for: .seconds(10))
            _ = try await postgres.run("SELECT pg_stat_statements_reset();")
            let begin = ContinuousClock.now
            _ = try await postgres.run("UPDATE host SET next_poll_at = 0;", in: "watched")
            while try await postgres.value("SELECT count(*) FROM host WHERE next_poll_at = 0;", in: "watched") > 0 {
                try await Task.sleep(for: .milliseconds(100))
            }
            let hourly = Double(settings.hosts) / (ContinuousClock.now - begin).seconds * 3_600
            let (statements, rows) = (
                try await asked("calls", postgres), try await asked("rows", postgres)
            )
            try await end(machines)
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
                "\(statements), \(Report.number(Double(statements) / Double(settings.hosts))) for each, \(rows) rows")
        }
    }

    /// What machines have asked the database since the figures were reset.
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
        // Three rounds, and one more change for the machine that follows after the kill.
        let apps = 3 * Self.changes + 2
        let shape = FilledServer.Shape(
            apps: apps,
            hosts: { app in
                try (0..<2).map { number in
                    try ContentHost(
                        name: "h\(number).app-\(app).example",
                        certificates: [.init(fingerprint: Digest(of: Array("\(app) \(number)".utf8)), expires: end)])
                }
            })
        let filled = try await FilledServer(in: place, shape, clock: clock, database: database)
        let changes = try await filled.approvedChanges(of: 0..<apps, clock: clock)
        var alone = 0.0
        for count in 1...3 {
            let machines = try await machines(count, of: filled, ["--no-watch"], program)
            let own = Array(changes[(count - 1) * Self.changes..<count * Self.changes])
            let begin = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, machine) in machines.enumerated() {
                    let part = own.enumerated().filter { $0.offset % count == index }.map(\.element)
                    group.addTask {
                        for change in part { try await Self.publish(change, on: machine, program) }
                    }
                }
                try await group.waitForAll()
            }
            let hourly = Double(Self.changes) / (ContinuousClock.now - begin).seconds * 3_600
            if count == 1 {
                alone = hourly
                report.state("changes published in an hour by commands on one machine", String(format: "%.0f", hourly))
            } else {
                report.compare(
                    "changes published in an hour on \(count) machines", String(format: "%.0f", hourly),
                    beside: "on one", ratio: hourly / alone)
            }
            if count == 3 {
                let failover = try await failover(machines, Array(changes.suffix(2)), program)
                report.state("after a kill, until another machine has published", Report.time(failover))
            }
            try await self.end(machines)
        }
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
