import ArgumentParser
import Holdfast

/// The command without a verb.
struct Holdfastctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfastctl",
        abstract: "Try Holdfast's decisions about TLS servers, examine a server, make pins and sign them.",
        discussion: """
            Exit codes: 0 all is well, 1 something is wrong (a client would be refused, a document does not verify), 2 wrong \
            usage, 3 not known (a host or a file could not be reached, read or written), 4 all is well now, but something \
            ends within the time of --watch, or only grace lets clients in. Of several answers 1 counts first, then 3, \
            then 4. Errors go to standard error.

            EXAMPLES
              holdfastctl check www.example.com
              holdfastctl check www.example.com api.example.com --watch 21d
              holdfastctl pin www.example.com
              holdfastctl pin backup.pem --format okhttp --host www.example.com
              holdfastctl pins add bank.pins.json www.example.com backup.pem
              holdfastctl export bank.pins.json --format android
              holdfastctl import Info.plist --from trustkit
              holdfastctl keygen --tls www.example.com -o backup.key
              holdfastctl rollover --pins bank.pins.json
              holdfastctl gate www.example.com --next fullchain.pem --pins bank.pins.json
              holdfastctl keygen -o signer.pem
              holdfastctl sign www.example.com --key signer.pem --list pins.json
              holdfastctl verify pins.json --public-key signer.pub
              holdfastctl check --pins bank.pins.json --quiet --watch 21d
              holdfastctl show bank.pins.json
              holdfastctl repository status site

            Completion for your shell:
              holdfastctl --generate-completion-script bash > holdfastctl.bash
            """,
        version: HoldfastRelease.version,
        subcommands: [
            CheckCommand.self, PinCommand.self, PinsCommand.self, KeygenCommand.self, SignCommand.self,
            VerifyCommand.self, ShowCommand.self, ListCommand.self, RolloverCommand.self, GateCommand.self,
            ExportCommand.self,
            ImportCommand.self,
            ExportPrivateCommand.self,
            TrustServerCommand.self, RepositoryCommand.self, TUFCommand.self,
        ])

    func run() async throws {
        throw ValidationError("Say what to do, for example check, pin or sign; see --help.")
    }
}
