import ArgumentParser

/// `holdfastctl pins`
struct PinsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Change a pin file without an editor, or compare two.",
        discussion: """
            Each verb reads the pin file as clients do, changes one thing, and replaces the file as a whole. If anything \
            fails, the file stays as it is. Fields that this version does not know stay in it. What changes is printed.

            A change after which clients would refuse a host at once is not made, unless --force refused is given: a host without \
            an entry, or a key in use whose pin is gone. The file does not say which keys the servers show: run \
            holdfastctl check --pins FILE before you publish it.

            A key is replaced in these steps, with the file published after each:
              holdfastctl pins add bank.pins.json api.example.com next.csr
              holdfastctl pins promote bank.pins.json api.example.com next.csr
              holdfastctl pins remove bank.pins.json api.example.com old.pem
            Deploy the next key after the first step, when every client has the file, and promote it then. Remove the old \
            pin when no server shows its key anymore. holdfastctl rollover tells when.

            EXAMPLES
              holdfastctl pins add bank.pins.json api.example.com backup.csr
              holdfastctl pins set bank.pins.json api.example.com --ports 443,8443
              holdfastctl pins diff published.pins.json bank.pins.json

            Exit codes are those of the verb; each verb has its own --help.
            """,
        subcommands: [
            PinsAddCommand.self, PinsRemoveCommand.self, PinsRetireCommand.self, PinsPromoteCommand.self,
            PinsSetCommand.self, PinsDiffCommand.self,
        ])

    func run() async throws {
        throw ValidationError("Say what to do with the pin file: add, remove, retire, promote, set or diff.")
    }
}
