import ArgumentParser
import Foundation
import HoldfastPublishing
import HoldfastSigning
import PinChanges
import PinPublication
import ServerFoundation
import ServerModel

/// Creates the repository of an app, and exchanges documents with the holders of its keys for signing.
struct AppRepositoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repository",
        abstract: "Begin a repository of The Update Framework, and have its holders sign.",
        discussion: """
            The keys of root and targets stay with their holders, who sign the folders that init, draft and export write \
            with holdfastctl repository sign. The server signs that what they signed is the newest.
            """,
        subcommands: [Init.self, Draft.self, Export.self, Import.self, Rotate.self, Publish.self])

    struct Init: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make the keys of the server, and write a first root for its holders to sign.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Option(help: "A public key of root, FILE or NAME=FILE. Repeat it.", completion: .file())
        var rootKey: [String]
        @Option(help: "How many of them must sign.")
        var rootThreshold = 1
        @Option(help: "A public key of targets, FILE or NAME=FILE. Repeat it.", completion: .file())
        var targetsKey: [String]
        @Option(help: "How many of them must sign.")
        var targetsThreshold = 1
        @Option(help: "A new folder for what is to be signed.", completion: .directory)
        var output: String

        func run() async throws {
            let name = try AppName(app)
            let (root, targets) = (try rootKey.map(RepositoryText.key), try targetsKey.map(RepositoryText.key))
            try await server.withServer { open in
                var generator = SystemRandomNumberGenerator()
                _ = try await open.publisher.beginRepository(
                    of: name, root: TUFRoleKeys(root, threshold: rootThreshold),
                    targets: TUFRoleKeys(targets, threshold: targetsThreshold), by: actor.actor, using: &generator)
                RepositoryText.print(
                    try await open.publisher.exportRepository(of: name, to: RepositoryText.folder(output)))
            }
        }
    }

    struct Draft: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prepare the targets of a change that was approved, and write them for their holders to sign.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The change.")
        var change: String
        @Option(help: "A new folder for what is to be signed.", completion: .directory)
        var output: String

        func run() async throws {
            let id = try CommandValue.id(change)
            try await server.withServer { open in
                try await open.publisher.draftRepository(id, by: actor.actor)
                let app = try await open.catalog.change(id).content.app
                RepositoryText.print(
                    try await open.publisher.exportRepository(of: app, to: RepositoryText.folder(output)))
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write what apps get and what is prepared, for the next holder to sign or to change the root.")
        @OptionGroup var server: ServerOptions
        @Argument(help: "The app.")
        var app: String
        @Option(help: "A new folder.", completion: .directory)
        var output: String

        func run() async throws {
            let name = try AppName(app)
            try await server.withServer { open in
                RepositoryText.print(
                    try await open.publisher.exportRepository(of: name, to: RepositoryText.folder(output)))
            }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take back what holders signed: a root, or targets of a change that was approved.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "The folder that they signed.", completion: .directory)
        var folder: String

        func run() async throws {
            let name = try AppName(app)
            try await server.withServer { open in
                RepositoryText.print(
                    try await open.publisher.importRepository(
                        of: name, from: RepositoryText.folder(folder), by: actor.actor))
            }
        }
    }
}

extension AppRepositoryCommand {
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make other keys of the server, and write a root with them for its holders to sign.",
            discussion: """
                For snapshot and timestamp keys that may be stolen. The new keys sign nothing before the root is \
                published. Then both sign once, so that no app is locked out, and the old ones are removed.

                EXAMPLES
                  holdfast-server app repository rotate bank --data /srv/pins \\
                    --output next-root
                  holdfastctl repository sign next-root --key ann.pem
                  holdfast-server app repository import bank next-root --data /srv/pins
                  holdfast-server app repository publish bank --data /srv/pins
                """)
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Option(help: "A new folder for what is to be signed.", completion: .directory)
        var output: String

        func run() async throws {
            let name = try AppName(app)
            try await server.withServer { open in
                var generator = SystemRandomNumberGenerator()
                _ = try await open.publisher.replaceOnlineKeys(of: name, by: actor.actor, using: &generator)
                RepositoryText.print(
                    try await open.publisher.exportRepository(of: name, to: RepositoryText.folder(output)))
            }
        }
    }

    struct Publish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish a next root that enough of its holders have signed, by itself.",
            discussion:
                "Pins stay as they are. Targets of a change wait for that; a root may also wait, and goes out with it.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String

        func run() async throws {
            let name = try AppName(app)
            try await server.withServer { open in
                let outcome = try await open.publisher.publishRoot(of: name, by: actor.actor)
                Terminal.line("published: root \(outcome.version)")
                if outcome.hasOtherKeys { Terminal.line("the server's keys before were removed") }
                for problem in outcome.problems {
                    Terminal.complain("not there yet, and renew tries again: \(problem)")
                }
            }
        }
    }
}

/// The drafts of a repository as text.
enum RepositoryText {
    static func folder(_ path: String) -> TUFRepositoryFolder { TUFRepositoryFolder(URL(filePath: path)) }

    /// A public key from `FILE` or `NAME=FILE`.
    static func key(_ text: String) throws -> TUFPublicKey {
        guard text.utf8.contains(UInt8(ascii: "=")) else {
            return try TUFPublicKey(Data(InputFile.bytes(text)))
        }
        let (name, path) = try CommandValue.pair(text)
        return try TUFPublicKey(Data(InputFile.bytes(path))).named(name)
    }

    static func print(_ progress: Publisher.RepositoryProgress) {
        for line in progress.changes + progress.signatures { Terminal.line("  \(line)") }
        Terminal.line(progress.isEnough ? "enough have signed" : "more have to sign: holdfastctl repository sign")
    }
}
