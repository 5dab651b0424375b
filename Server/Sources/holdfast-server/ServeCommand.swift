import ArgumentParser
import Foundation
import Holdfast
import HoldfastServer
import Logging
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerHTTP
import ServerModel
import ServerStore

/// Serves apps, signs documents again when needed, and monitors hosts.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer apps, sign again what has to be signed again, and watch the hosts.",
        discussion: """
            One process serves a folder; commands may change it meanwhile. Stop it with SIGTERM or SIGINT. What no flag \
            says is taken from the variable HOLDFAST_SERVER_NAME, such as HOLDFAST_SERVER_ADMIN_LISTEN, and then from \
            the file that --config names: {"admin-listen": "127.0.0.1:8081", "allow": ["10.0.0.0/8"]}.
            """)

    @OptionGroup var server: ServerOptions
    @Option(help: "Where apps are answered: ADDRESS:PORT, 127.0.0.1:8080 if absent. Beyond loopback TLS or a proxy.")
    var listen: String?
    @Option(help: "A proxy whose word about a client's address counts, such as 10.0.0.5/32. Repeat it.")
    var behindProxy: [String] = []
    @Option(help: "The certificates to speak TLS with, PEM.", completion: .file())
    var tlsCertificate: String?
    @Option(help: "Their private key, PEM.", completion: .file())
    var tlsKey: String?
    @Option(help: "Where people are answered: ADDRESS:PORT, 127.0.0.1:8081 if absent. Beyond loopback only with TLS.")
    var adminListen: String?
    @Option(help: "A proxy before that whose word about an address counts, such as 127.0.0.1/32. Repeat it.")
    var adminBehindProxy: [String] = []
    @Option(help: "The certificates to speak TLS with there, PEM.", completion: .file())
    var adminTlsCertificate: String?
    @Option(help: "Their private key, PEM.", completion: .file())
    var adminTlsKey: String?
    @Option(help: "Where browsers find the pages, https://NAME: people sign in there with passkeys of that name.")
    var adminOrigin: String?
    @Option(help: "Addresses that may be watched although they are private, such as 10.0.0.0/8. Repeat it.")
    var allow: [String] = []
    @Flag(help: "Do not watch hosts.")
    var noWatch = false
    @Option(
        help: "From where hosts are seen, such as the name of this machine; server if absent. Give host see the same.")
    var vantage: String?
    @Option(help: "From which level on there are lines in the log: trace, debug, info, notice, warning or error.")
    var logLevel: String?
    @Option(help: "What a line of the log looks like: text or json; text if absent.")
    var logFormat: String?
    @Option(help: "Where the secret is, if not where init put it.", completion: .file())
    var secret: String?
    @Option(help: "Tell this address, with https, about alarms, open changes and ends.")
    var webhook: String?
    @Option(help: "The secret that its receiver shares: whsec_ and Base64, mode 0600.", completion: .file())
    var webhookSecret: String?
    @Option(help: "The authorities of its certificate, PEM; the system's if absent.", completion: .file())
    var webhookCa: String?
    @Option(help: "Run this program for each of these events; it reads JSON.", completion: .file())
    var onEvent: String?
    @Option(help: "A file with settings, JSON.", completion: .file())
    var config: String?

    private var flags: [ServeSettings.Name: String] {
        var flags: [ServeSettings.Name: String] = [:]
        flags[.listen] = listen
        flags[.behindProxy] = behindProxy.isEmpty ? nil : behindProxy.joined(separator: ",")
        flags[.tlsCertificate] = tlsCertificate
        flags[.tlsKey] = tlsKey
        flags[.adminListen] = adminListen
        flags[.adminBehindProxy] = adminBehindProxy.isEmpty ? nil : adminBehindProxy.joined(separator: ",")
        flags[.adminTLSCertificate] = adminTlsCertificate
        flags[.adminTLSKey] = adminTlsKey
        flags[.adminOrigin] = adminOrigin
        flags[.allow] = allow.isEmpty ? nil : allow.joined(separator: ",")
        flags[.watch] = noWatch ? "false" : nil
        flags[.vantage] = vantage
        flags[.logLevel] = logLevel
        flags[.logFormat] = logFormat
        flags[.secret] = secret
        flags[.database] = server.database.database
        flags[.webhook] = webhook
        flags[.webhookSecret] = webhookSecret
        flags[.webhookCA] = webhookCa
        flags[.onEvent] = onEvent
        return flags
    }

    func run() async throws {
        let settings = try await ServeSettings(
            flags: flags, environment: ProcessInfo.processInfo.environment, file: config.map { URL(filePath: $0) })
        let wanted = settings.listen.limits.connections
        let connections = DescriptorLimit.raise(for: wanted)
        var logger = Logger(label: "holdfast-server") { _ in TerminalLogHandler(format: settings.logFormat) }
        logger.logLevel = settings.logLevel
        if connections < wanted {
            logger.warning(
                "the limit of open files leaves \(connections) connections, not \(wanted): raise it (ulimit -n)")
        }
        let clock = SystemWallClock()
        let folder = ServerFolder(
            URL(filePath: server.data), secret: settings.secret, database: settings.database)
        try folder.readConfiguration()
        for finding in folder.permissions().findings { logger.warning("\(finding.words)") }
        let lock = try folder.lock()
        defer { withExtendedLifetime(lock) {} }
        while try await serve(folder, settings, clock, connections, logger) {
            logger.notice("the database is usable again: restarting")
        }
        logger.info("stopped")
    }

    /// Records the origin of the pages if it has changed.
    /// - Returns: the previous origin.
    private func note(_ pages: RelyingParty, _ open: ServerFolder.Open, _ logger: Logger) async -> RelyingParty? {
        do throws(ServerError) {
            return try await open.catalog.notePages(at: pages, by: "serve")
        } catch {
            // Clients must be served anyway.
            logger.error("noting where the pages are: \(error)")
            return nil
        }
    }

    /// Serves as much as possible.
    /// - Returns: whether the database is usable again.
    private func serve(
        _ folder: ServerFolder, _ settings: ServeSettings, _ clock: any WallClock, _ connections: Int, _ logger: Logger
    ) async throws -> Bool {
        let mending = FolderRepair(folder, clock: clock)
        let hold = try await hold(folder, logger)
        do {
            var folder = folder
            folder.hold = hold
            let isMended = try await serve(folder, settings, clock, connections, mending, hold, logger)
            await hold?.release()
            return isMended
        } catch {
            await hold?.release()
            throw error
        }
    }

    /// Locks the database for this server.
    /// - Returns: nil for a file in the folder, and for a database that does not respond.
    private func hold(_ folder: ServerFolder, _ logger: Logger) async throws -> DatabaseLock? {
        guard let address = try folder.databaseAddress() else { return nil }
        do throws(ServerError) {
            return try await DatabaseLock.take(address)
        } catch {
            guard error.code != .databaseInUse else { throw error }
            return nil
        }
    }

    private func serve(
        _ folder: ServerFolder, _ settings: ServeSettings, _ clock: any WallClock, _ connections: Int,
        _ mending: FolderRepair, _ hold: DatabaseLock?, _ logger: Logger
    ) async throws -> Bool {
        let listening: @Sendable (ServerProcess.ReleaseChannel, String) -> Void = { audience, address in
            logger.info("listening for \(audience.rawValue) on \(address)")
        }
        let open: ServerFolder.Open
        var isWhole = false
        let opening: ServerFolder.Opening
        if let hold {
            opening = try await hold.keeping { try await folder.openWhatCanBe(clock: clock) }
        } else {
            opening = try await folder.openWhatCanBe(clock: clock)
        }
        switch opening {
        case .whole(let found):
            if hold == nil, let address = try folder.databaseAddress() {
                do throws(ServerError) {
                    // The database did not respond before and does now, so restart to lock it first.
                    try await DatabaseLock.take(address).release()
                    await found.engine.close()
                    return true
                } catch {
                    guard error.code != .databaseInUse else {
                        await found.engine.close()
                        throw error
                    }
                    logger.error("nothing can be written, since the database cannot be taken: \(error)")
                    open = found
                }
            } else {
                (open, isWhole) = (found, true)
            }
        case .reading(let found, let problem):
            // A server that cannot use the database must not lock out another one that can.
            await hold?.release()
            logger.error(
                "nothing can be written: documents and challenges are answered, and nothing is signed: \(problem)"
            )
            open = found
        case .documents(let problem):
            await hold?.release()
            logger.error(
                "the documents in \(folder.publicFolder.url.path) are served, and nothing else: \(problem)")
            let process = ServerProcess(
                documentsOf: folder, because: problem, settings, clock: clock, connections: connections,
                mending: mending, logger: logger, onListening: listening)
            try await process.run()
            return mending.isDone
        }
        if open.catalog.isJoining {
            logger.notice(
                """
                this folder had no head of the audit, so it continues from the head that another machine signed: \
                \(open.catalog.ledger.chain.head)
                """)
        }
        if let problem = open.secretProblem { logger.error("nothing can be signed: \(problem)") }
        if isWhole, let pages = settings.adminOrigin, let before = await note(pages, open, logger) {
            logger.warning(
                "the pages were at \(before.origin) and are at \(pages.origin): doctor says whose passkeys are for another"
            )
        }
        do {
            open.publisher.begin()
            let process = try ServerProcess(
                open, settings, clock: clock, connections: connections, mending: isWhole ? nil : mending,
                hold: isWhole ? hold : nil, logger: logger, onListening: listening)
            try await process.run()
            await open.engine.close()
        } catch {
            await open.engine.close()
            throw error
        }
        return mending.isDone
    }
}
