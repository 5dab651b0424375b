import ArgumentParser
import Foundation
import Holdfast
import PinChanges
import PinPublication
import ServerFoundation
import ServerImport
import ServerModel
import ServerStore

/// Imports apps from another server.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take apps over from another server, with the keys that their clients know.",
        discussion: """
            Everything is imported or nothing: apps, keys, hosts, rules, texts, and for each app a first change, which \
            approvers must approve before clients are served. Files with private keys have mode 0600. With --dry-run \
            everything is examined and nothing is written. The apps of a trust server get the names of its customers. \
            The snapshot and timestamp keys of a repository are imported; the root and targets keys stay with their \
            holders.

            EXAMPLES
              psql -XqAtf export.sql mus | holdfast-server import --data /srv/pins \\
                --mobile-utility-server - --anchors roots.pem --no-shipped-pins \\
                --reason "from the old server" --no-proposer --dry-run
              holdfast-server import --data /srv/pins --trust-server /srv/trust \\
                --anchors roots.pem --no-shipped-pins --reason "one server" --no-proposer
              holdfast-server import --data /srv/pins --repository site --app bank \\
                --key online.pem --anchors roots.pem --no-shipped-pins \\
                --reason "one server" --no-proposer

            Exit codes: 0 taken over; 2 wrong usage; 3 the export cannot be read.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Option(help: "The tables of a mobile utility server: a folder, or - for standard input.", completion: .directory)
    var mobileUtilityServer: String?
    @Option(help: "The folder of a trust server, with data and output.", completion: .directory)
    var trustServer: String?
    @Option(help: "A repository: its folder, or the one that a web server serves.", completion: .directory)
    var repository: String?
    @Option(help: "A signed list of fingerprints, with its --key.", completion: .file())
    var list: String?
    @Option(
        help: "The private key of a list, or one of a repository for snapshot or timestamp. Repeat it.",
        completion: .file())
    var key: [String] = []
    @Option(help: "A file with the password of the keys, in one line.", completion: .file())
    var passwordFile: String?
    @Option(help: "A pin file.", completion: .file())
    var pins: String?
    @Option(help: "How the app is called here.")
    var app: String?
    @Flag(help: "Examine everything, and write nothing.")
    var dryRun = false
    @Option(help: "The authorities that the clients' systems trust, PEM.", completion: .file())
    var anchors: String?
    @OptionGroup var clients: AppCommand.ClientOptions
    @Option(help: "After how many seconds clients ask again.")
    var refresh: Int64 = 3_600
    @Option(help: "For how many days documents may be signed.")
    var lifetime: Int64 = 180
    @Option(help: "Since when the other server has said the same, such as 2026-11-24T12:00:00Z.")
    var unchangedSince: String?
    @Option(help: "Let it pass a gate that it fails: lint, replay, outlook, canary or readback. Repeat it.")
    var force: [String] = []
    @Option(help: "Why.")
    var reason: String?
    @Option(help: "The approver who proposes it. Their own approval is not valid.")
    var proposer: String?
    @Flag(help: "The proposer is no approver, so every approval is valid.")
    var noProposer = false

    func validate() throws {
        guard [mobileUtilityServer, trustServer, repository, list, pins].compactMap(\.self).count == 1 else {
            throw ValidationError(
                "Say what to take over: --mobile-utility-server, --trust-server, --repository, --list or --pins.")
        }
        guard repository != nil || key.count == (list == nil ? 0 : 1), passwordFile == nil || !key.isEmpty else {
            throw ValidationError(
                "A --list comes with its --key, a --repository with those of the server, nothing else.")
        }
        guard list == nil && pins == nil && repository == nil || app != nil else {
            throw ValidationError("Name the --app.")
        }
        guard mobileUtilityServer == nil || app == nil else {
            throw ValidationError("The apps of a mobile utility server keep their names: leave out --app.")
        }
        guard anchors != nil else { throw ValidationError("Give the file of --anchors.") }
        guard reason != nil else { throw ValidationError("Say why with --reason.") }
        guard (proposer == nil) == noProposer else {
            throw ValidationError("Say which approver proposes it with --proposer, or --no-proposer.")
        }
        guard (1...366).contains(lifetime) else { throw ValidationError("Give a --lifetime of 1 to 366 days.") }
    }

    func run() async throws {
        let settings = try clients.settings(anchors: anchors ?? "")
        let gates = try CommandValue.gates(force)
        let since = try unchangedSince.map { try CommandValue.seconds($0, of: "--unchanged-since") }
        let takeover = try await takeover()
        try await server.withServer { open in
            let rules = Publisher.TakeoverRules(
                settings: settings, lifetime: lifetime * 86_400, forced: gates,
                proposer: try await identity(open.catalog), reason: reason ?? "", since: since, by: actor.actor)
            var generator = SystemRandomNumberGenerator()
            let proposals = try await open.publisher.takeOver(
                takeover, rules, isRehearsal: dryRun, using: &generator)
            for (app, proposal) in zip(takeover.apps, proposals) { print(app, proposal) }
            Terminal.line(
                dryRun
                    ? "nothing was written: leave out --dry-run to take it over"
                    : "taken over: nothing is served before people approve the changes")
        }
    }

    private func takeover() async throws -> Takeover {
        guard let repository else { return try read() }
        let (pems, password) = try keys()
        return try await Takeover(
            repository: URL(filePath: repository), keys: pems, password: password, as: AppName(app ?? ""),
            refresh: refresh)
    }

    private func keys() throws -> (pems: [String], password: [UInt8]?) {
        var pems: [String] = []
        for file in key {
            let bytes = try PrivateInput.file(URL(filePath: file), limit: 64 << 10)
            pems.append(String(decoding: bytes, as: UTF8.self))
        }
        let password = try passwordFile.map { try InputFile.bytes($0).prefix { $0 != 0x0A && $0 != 0x0D } }
        return (pems, password.map(Array.init))
    }

    private func read() throws -> Takeover {
        let now = Int64(SystemWallClock().now.timeIntervalSince1970)
        let name = try app.map { try AppName($0) }
        if let trustServer {
            return try Takeover(
                trustServer: URL(filePath: trustServer), as: name, at: now, until: now + lifetime * 86_400)
        }
        if let name, let pins { return try Takeover(pins: InputFile.bytes(pins), as: name, refresh: refresh) }
        if let name, let list {
            let (pems, password) = try keys()
            let pem = pems.first ?? ""
            return try Takeover(
                list: InputFile.bytes(list), key: pem, password: password, as: name, at: now, refresh: refresh)
        }
        let tables: MobileUtilityTables
        if let mobileUtilityServer, mobileUtilityServer != "-" {
            tables = try MobileUtilityTables(folder: URL(filePath: mobileUtilityServer))
        } else {
            tables = try MobileUtilityTables(
                stream: PrivateInput.stream(.standardInput, limit: MobileUtilityTables.maximumSize))
        }
        return try tables.takeover(at: now, refresh: refresh)
    }

    private func identity(_ catalog: Catalog) async throws -> Digest? {
        guard let proposer else { return nil }
        return try await ProposerOptions.identity(proposer, catalog)
    }

    private func print(_ app: Takeover.App, _ proposal: Publisher.Proposal) {
        let certificates = app.hosts.reduce(0) { $0 + $1.certificates.count }
        let keys = app.hosts.reduce(0) { $0 + $1.keys.count }
        Terminal.line("\(app.name)  \(app.hosts.count) hosts, \(certificates) certificates, \(keys) keys")
        for key in app.keys { Terminal.line("  clients have \(key.configured) (\(key.purpose.rawValue))") }
        for note in app.notes { Terminal.line("  \(note)") }
        if !dryRun { Terminal.line("change \(proposal.change)") }
        for line in proposal.difference.lines { Terminal.line("  \(line)") }
        ChangeText.print(proposal.report)
    }
}
