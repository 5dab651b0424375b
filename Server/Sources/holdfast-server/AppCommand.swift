import ArgumentParser
import Foundation
import Holdfast
import HoldfastSigning
import PinPublication
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Adds apps, and makes their keys.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Add apps, and make the keys that sign for them.",
        subcommands: [
            Add.self, Settings.self, List.self, Key.self, AppSignerCommand.self,
            AppRepositoryCommand.self, AppReportsCommand.self,
        ])

    /// The options that protect the clients of an app.
    struct ClientOptions: ParsableArguments {
        @Option(help: "Days for which a client keeps using a replaced document.")
        var staleness: Int64 = AppSettings.defaultStaleness / 86_400
        @Option(
            help: """
                Hours for which the canary has a change before all other clients; 0 for no canary. A signed list \
                cannot state that it is for a canary.
                """)
        var canary: Int64 = 24
        @Option(help: "Hosts that it may have.")
        var maximumHosts: Int64 = 1_000
        @Option(help: "A build in the field and the pin file that it carries: NAME=FILE. Repeat it.")
        var build: [String] = []
        @Flag(help: "No build in the field carries pins.")
        var noShippedPins = false

        func settings(anchors: String) throws -> AppSettings {
            guard (0...366).contains(staleness), (0...168).contains(canary) else {
                throw ValidationError("Give a --staleness of at most 366 days, and a --canary of at most 168 hours.")
            }
            let builds = try build.map { text in
                let (name, path) = try CommandValue.pair(text)
                return try AppSettings.Build(name: name, pinFile: InputFile.bytes(path))
            }
            return try AppSettings(
                staleness: staleness * 86_400, canary: canary * 3_600, maximumHosts: maximumHosts,
                anchors: InputFile.certificates(anchors),
                builds: builds.isEmpty && !noShippedPins ? nil : builds)
        }
    }

    /// The settings of an app, from the command line.
    struct SettingsOptions: ParsableArguments {
        @Option(help: "The authorities that the clients' systems trust, PEM.", completion: .file())
        var anchors: String
        @OptionGroup var clients: ClientOptions

        func read() throws -> AppSettings { try clients.settings(anchors: anchors) }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an app.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "Its name, as in URLs.")
        var app: String
        @Option(help: "The display name.")
        var displayName: String?

        func run() async throws {
            let (name, settings) = (try AppName(app), try settings.read())
            try await server.withServer { open in
                try await open.catalog.addApp(
                    name, displayName: displayName ?? app, settings: settings, by: actor.actor)
            }
        }
    }

    struct Settings: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Replace what is known about an app's clients.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "The app.")
        var app: String

        func run() async throws {
            let (name, settings) = (try AppName(app), try settings.read())
            try await server.withServer { open in try await open.catalog.set(settings, of: name, by: actor.actor) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the apps.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var answer: AnswerOptions

        func run() async throws {
            try await server.withServer { open in
                for app in open.catalog.apps {
                    guard !answer.json else {
                        JSONAnswer.print(try await AdministrationView.app(app, of: open.catalog))
                        continue
                    }
                    let known = try await open.catalog.app(app)
                    let generation = open.catalog.ledger.generation(of: app)
                    Terminal.line("\(app)  \(known.displayName)  generation \(generation)")
                }
            }
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key that signs for an app, and print what its clients are configured with.",
            discussion: """
                Use --replace for a key that may be stolen: the new key signs all published documents at once, and the \
                old one is removed. Clients know only one key, so the command prints which clients are locked out. For \
                an overlap, add a second app with its own key, publish both, and ship builds that know the second. The \
                keys of a repository are replaced without locking out clients: app repository rotate.
                """)
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Option(help: "fingerprints (lists and challenges), or trust-server.")
        var purpose: String = "fingerprints"
        @Option(help: "The customer of a trust server.")
        var customer: String?
        @Option(help: "An existing private key instead of a new one, PEM, not encrypted.", completion: .file())
        var file: String?
        @Option(help: "The certificate of an existing trust-server key.", completion: .file())
        var certificate: String?
        @Flag(help: "Remove the key before: apps that know it refuse what this one signs.")
        var replace = false

        func run() async throws {
            let name = try AppName(app)
            let pem = try file.map { String(decoding: try InputFile.bytes($0), as: UTF8.self) }
            let trust = try trustServerKey(pem)
            let secretPEM = trust?.privateKeyPEM ?? pem ?? SigningKey().pem
            try await server.withServer { open in
                guard let secret = open.secret else { throw open.secretProblem ?? NegativeAnswer(words: "no secret") }
                var generator = SystemRandomNumberGenerator()
                let place = try SealedKey.Place(
                    server: open.configuration.server, app: name, id: "\(RandomID(using: &generator))",
                    purpose: trust == nil ? .fingerprints : .trustServer)
                let sealed = try SealedKey(sealing: secretPEM, at: place, with: secret)
                let done = try await open.publisher.add(
                    Catalog.Key(
                        sealed: sealed, certificate: trust.map { Array($0.certificate) }, wasInPlainText: file != nil),
                    replacing: replace, by: actor.actor)
                if let trust {
                    Terminal.printAsIs(trust.certificatePEM)
                } else {
                    Terminal.line(Data(sealed.publicKey.suffix(65)).base64EncodedString())
                }
                for words in done.lost { Terminal.complain(words) }
                for path in done.signed { Terminal.complain("signed with it: \(path)") }
                for problem in done.problems {
                    Terminal.complain("not there yet, and renew tries again: \(problem)")
                }
            }
        }

        private func trustServerKey(_ pem: String?) throws -> TrustServerKey? {
            switch purpose {
            case "fingerprints": return nil
            case "trust-server":
                if let pem {
                    guard let certificate else { throw ValidationError("Give the key's --certificate as well.") }
                    return try TrustServerKey(certificate: Data(InputFile.bytes(certificate)), privateKeyPEM: pem)
                }
                guard let customer else { throw ValidationError("Name the --customer of the trust server.") }
                return try TrustServerKey(customer: customer, kind: .rsa4096, at: SystemWallClock().now)
            default: throw ValidationError("Say what the key is for: --purpose fingerprints or trust-server.")
            }
        }
    }
}
