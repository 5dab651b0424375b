import ArgumentParser
import Foundation
import Holdfast
import HoldfastServer

/// Writes a backup.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a backup, encrypted to a key that the server does not have.",
        discussion: """
            Make the key with holdfastctl keygen, for backups alone, and keep it and a copy of the secret where this \
            machine is not: restoring takes both. The secret is in no backup. Servers and commands go on meanwhile.
            """)

    @OptionGroup var server: ServerOptions
    @Option(help: "The file to write, outside the folder; there must be none yet.", completion: .file())
    var to: String
    @Option(help: "The file with the public key that holdfastctl keygen printed.", completion: .file())
    var recipient: String

    func run() async throws {
        let line = try InputFile.bytes(recipient).prefix { $0 != 0x0A && $0 != 0x0D }
        let recipient = try BackupRecipient(printed: Array(line))
        try await server.withServer { open in
            let manifest = try await server.folder.backUp(open, to: URL(filePath: to), for: recipient)
            Terminal.line("\(to): \(manifest.size) bytes of database, for the key \(recipient.identity)")
            Terminal.line("The head of its audit, which is worth writing down elsewhere: \(manifest.head)")
        }
    }
}

/// Changes the secret.
struct ResealCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reseal",
        abstract: "Make a new secret, and seal all keys with it. Stop serve first.",
        discussion: """
            The new secret takes the place of the old one in its file. It may be interrupted anywhere: run it again, and \
            it completes what it began. Backups that were made before need the old secret: keep a copy \
            of it first where you keep those.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @OptionGroup var copy: RecoveryCopyOptions

    func run() async throws {
        var generator = SystemRandomNumberGenerator()
        let done = try await server.folder.reseal(
            copy: copy.file, clock: SystemWallClock(), using: &generator, by: actor.actor)
        Terminal.line(
            done.isContinued
                ? "an earlier change of the secret was completed: all keys are sealed with it"
                : "all keys are sealed with a new secret")
        for id in done.unreadable { Terminal.line("key \(id), which signs no more, did not open with the old secret") }
        Terminal.line("Backups that were made before need the old secret: write a new one now.")
    }
}
