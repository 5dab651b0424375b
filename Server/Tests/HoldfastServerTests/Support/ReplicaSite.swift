import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// A server of several machines on one database of PostgreSQL. The first has the folder that `init` made; each other one
/// got what docs/server/machines.md says. The test works on the first folder with the library, as commands do.
struct ReplicaSite: Sendable {
    /// The database address and the options of a machine.
    struct Machine: Sendable {
        /// Another way to the database; nil for the address in the configuration.
        var database: PostgreSQLAddress?
        var options = ["--no-watch"]

        static let usual = Machine()
    }

    let site: ServeSite
    let replicas: [Replica]
    /// The signers of the repository's targets; nil without a repository.
    let holders: RepositoryHolders?

    /// How long it may take until every machine serves what one of them serves, as docs/server/machines.md says.
    static let lag = Duration.seconds(10)

    /// Makes the machines; none serves yet.
    /// - Parameters:
    ///   - database: theirs.
    ///   - machines: one for each.
    ///   - hasRepository: whether a repository is published beside the rest.
    static func run(
        on database: PostgreSQLAddress?, _ machines: [Machine] = [.usual, .usual, .usual],
        hasRepository: Bool = false, _ body: (ReplicaSite) async throws -> Void
    ) async throws {
        let database = try #require(database)
        try await ServeSite.run(database: database) { site in
            var replicas: [Replica] = []
            for (index, machine) in machines.enumerated() {
                var (server, secret) = (site.server, site.secret)
                if index > 0 { (server, secret) = try copy(of: site, number: index + 1) }
                let way = machine.database.map { ["--database", $0.withoutPassword] } ?? []
                replicas.append(try await Replica(index + 1, server, secret: secret, way + machine.options))
            }
            let holders = hasRepository ? RepositoryHolders() : nil
            if let holders { try await site.open.publisher.begin(site.app, holders, in: site.folder) }
            let replicated = ReplicaSite(site: site, replicas: replicas, holders: holders)
            let result: Result<Void, any Error>
            do { result = .success(try await body(replicated)) } catch { result = .failure(error) }
            for replica in replicas { await replica.kill() }
            if case .failure(let error) = result {
                Issue.record("\(error)")
                throw error
            }
        }
    }

    /// Makes another machine's folder.
    static func copy(of site: ServeSite, number: Int) throws -> (server: ServerFolder, secret: URL) {
        let server = ServerFolder(site.folder.appending(path: "data-\(number)"))
        try FileManager.default.createDirectory(at: server.url, withIntermediateDirectories: false)
        for file in ["configuration.json", "head"] {
            try FileManager.default.copyItem(
                at: site.server.url.appending(path: file), to: server.url.appending(path: file))
        }
        let secret = site.folder.appending(path: "secret-\(number)")
        try FileManager.default.copyItem(at: site.secret, to: secret)
        return (server, secret)
    }

    /// Starts them all.
    func start() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for replica in replicas { group.addTask { try await replica.start() } }
            try await group.waitForAll()
        }
    }

    // MARK: Changes

    /// Proposes, approves and has signed, and leaves it at that.
    func approvedChange(until days: Int64) async throws -> RandomID {
        var formats = World.formats
        if holders != nil {
            let root = try await site.open.catalog.firstRoot(of: site.app)
            formats.append(try ContentFormat(.repository, refresh: 21_600, root: root))
        }
        let change = try await site.approvedChange(until: days, formats: formats)
        if let holders { try await site.open.publisher.sign(change, holders, in: site.folder) }
        return change
    }

    /// Publishes with the command of a machine.
    /// - Returns: the generation.
    @discardableResult
    func publish(_ change: RandomID, on replica: Replica) async throws -> Int64 {
        let (status, output) = try await replica.command("publish", "\(change)")
        try #require(status == 0, "\(output)")
        return try generation(in: output)
    }

    /// The generation that a command said it has published.
    func generation(in output: String) throws -> Int64 {
        let words = try #require(output.firstMatch(of: /published: generation ([0-9]+)/), "\(output)")
        return try #require(Int64(words.1))
    }

    /// The digest of the newest version of each document for all clients, by path, from the database.
    func newest() async throws -> [String: ServerFoundation.Digest] {
        try await site.open.catalog.look { [app = site.app] _, ledger throws(ServerError) in
            var newest: [String: ServerFoundation.Digest] = [:]
            for (name, version) in ledger.documents where name.app == app && !version.isWithdrawn {
                if !name.name.contains("-canary") { newest[name.name] = version.digest }
            }
            return newest
        }
    }

    /// Documents that a round does not sign again, so they tell generations apart.
    private static let paths = ["lists/bank.json", "pins/bank.pins.json"]

    /// Whether every machine serves it, and it changes.
    private static func isCompared(_ path: String) -> Bool {
        !path.hasPrefix("repo/") || path.hasSuffix("/bundle.json") || path.hasSuffix("/timestamp.json")
    }

    /// Waits until machines serve the newest generation; all that run if none is named.
    func follow(_ some: [Replica]? = nil, within limit: Duration = ServingProcess.usualLimit) async throws {
        let newest = try await newest()
        for replica in some ?? replicas where replica.running != nil {
            try await eventually(within: limit, "machine \(replica.number) follows: \(replica.text.suffix(4_000))") {
                for path in Self.paths where await replica.digest(of: path) != newest[path] { return false }
                return true
            }
        }
    }

    /// Every version that was ever signed, as the audit has it; none has two contents.
    func signed() async throws -> [String: [ServerFoundation.Digest: Int64]] {
        var signed: [String: [ServerFoundation.Digest: Int64]] = [:]
        var versions: Set<String> = []
        var place: Int64 = -1
        while case let page = try await site.open.catalog.audit(after: place, limit: 1_000), !page.isEmpty {
            place += Int64(page.count)
            for entry in try page.map({ try AuditEntry($0) }) where entry.event == .signed {
                let (path, version) = (entry.facts["format"] ?? "", entry.facts["version"] ?? "")
                let digest = try #require(Digest(hex: (entry.facts["digest"] ?? "").utf8))
                #expect(versions.insert("\(path) \(version)").inserted, "\(path) has version \(version) twice")
                let number: Int64 = try #require(Int64(version))
                signed[path, default: [:]][digest] = number
            }
        }
        return signed
    }

    /// Expects that each generation of the audit has all of its documents, which were signed as it was published.
    func expectWholePublications(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var generations: [String: Set<String>] = [:]
        var place: Int64 = -1
        while case let page = try await site.open.catalog.audit(after: place, limit: 1_000), !page.isEmpty {
            place += Int64(page.count)
            for entry in try page.map({ try AuditEntry($0) }) {
                let generation = entry.facts["generation"] ?? ""
                switch entry.event {
                case .published: generations[generation] = []
                case .signed: generations[generation]?.insert(entry.facts["format"] ?? "")
                default: break
                }
            }
        }
        #expect(!generations.isEmpty, sourceLocation: sourceLocation)
        for (generation, paths) in generations {
            #expect(
                paths.isSuperset(of: Self.paths), "generation \(generation) has \(paths.sorted())",
                sourceLocation: sourceLocation)
        }
    }

    /// The faults that `doctor` finds on a machine.
    func faults(on replica: Replica) async throws -> [String] {
        let (status, output) = try await replica.command("doctor")
        let faults = output.components(separatedBy: "\n").filter { $0.hasPrefix("fault:") }
        #expect(status == (faults.isEmpty ? 0 : 1), "\(output)")
        return faults
    }

    /// Has every kind of client follow what is served at a port, as the folder of a machine has it.
    func everybodyFollows(
        _ port: Int, from replica: Replica, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // A machine that has just started signs again, a moment later.
        var (known, since): ([String: ServerFoundation.Digest], ContinuousClock.Instant) = ([:], .now)
        try await eventually("machine \(replica.number) is up to date: \(replica.text.suffix(4_000))") {
            let newest = try await newest()
            if newest != known { (known, since) = (newest, .now) }
            for (path, digest) in newest where Self.isCompared(path) {
                guard await replica.digest(of: path) == digest,
                    try replica.server.publicFolder.read(path).map({ Digest(of: $0) }) == digest
                else { return false }
            }
            return ContinuousClock.now - since > .seconds(3)
        }
        let one = ServeSite(site, movedTo: replica.server, site.open)
        try await one.everybodyFollows(port, sourceLocation: sourceLocation)
    }

    /// Has every kind of client follow where nothing but a list is published.
    func everybodyFollows(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let publisher = site.open.publisher
        try await publisher.refresh()
        try await publisher.everybodyFollows(
            site.app, lettingIn: [site.shown, site.announced], trusting: site.root, clock: site.clock,
            hasChallenges: false, isThorough: false, sourceLocation: sourceLocation)
    }
}
