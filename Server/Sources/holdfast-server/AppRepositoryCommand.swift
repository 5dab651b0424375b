import ArgumentParser
import Foundation
import HoldfastPublishing
import HoldfastServer
import HoldfastSigning

/// Begins the repository of an app, and passes what is to be signed to the holders of its keys and back.
struct AppRepositoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repository",
        abstract: "Begin a repository of The Update Framework, and have its holders sign.",
        discussion: """
            The keys of root and targets stay with their holders, who sign the folders that init, draft and export write \
            with holdfastctl repository sign. The server signs that what they signed is the newest.
            """,
        subcommands: [Init.self, Draft.self, Export.self, Import.self])

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

/// What is prepared for a repository, in words.
enum RepositoryText {
    static func folder(_ path: String) -> TUFRepositoryFolder { TUFRepositoryFolder(URL(filePath: path)) }

    /// A public key from `FILE` or `NAME=FILE`.
    static func key(_ text: String) throws -> TUFPublicKey {
        guard text.utf8.contains(UInt8(ascii: "=")) else {
            return try TUFPublicKey(Data(InputFile.octets(text)))
        }
        let (name, path) = try CommandValue.pair(text)
        return try TUFPublicKey(Data(InputFile.octets(path))).named(name)
    }

    static func print(_ progress: Publisher.RepositoryProgress) {
        for line in progress.changes + progress.signatures { Terminal.line("  \(line)") }
        Terminal.line(progress.isEnough ? "enough have signed" : "more have to sign: holdfastctl repository sign")
    }
}
