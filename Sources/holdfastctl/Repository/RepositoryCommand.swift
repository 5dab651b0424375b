import ArgumentParser

/// `holdfastctl repository`
struct RepositoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repository",
        abstract: "Publish pins that cannot be rolled back: keys, signatures, versions, rotation.",
        usage: "holdfastctl repository <verb> <folder> [<options>]",
        discussion: """
            A repository of The Update Framework (TUF 1.0.34) with a pin file in it, for apps that use PinRepository. \
            Offline keys sign the roots and the pins. A key on the machine that publishes signs, every day, that they \
            are the newest. The folder has public, which any web server serves as it is, and draft, which keyholders \
            pass on to each other.

            EXAMPLES
              holdfastctl repository init site --small --offline-key offline.pem \\
                --online-key online.pem
              holdfastctl repository pins site bank.pins.json --key offline.pem
              holdfastctl repository publish site --key online.pem
              holdfastctl repository renew site --key online.pem
              holdfastctl repository status site

            Apps are built with site/public/metadata/1.root.json, and fetch site/public/bundle.json.

            Exit codes: 0 success, 1 a negative answer, 2 wrong usage, 3 a file or host could not be reached.
            """,
        subcommands: [
            RepositoryInitCommand.self, RepositoryPinsCommand.self, RepositorySignCommand.self,
            RepositoryPublishCommand.self, RepositoryRenewCommand.self, RepositoryRotateCommand.self,
            RepositoryStatusCommand.self,
        ])

    func run() async throws {
        throw ValidationError("Say what to do: init, pins, sign, publish, renew, rotate or status.")
    }
}
