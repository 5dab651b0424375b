import ArgumentParser

/// `holdfastctl pins`
struct PinsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Change a pin file without an editor, or compare two.",
        discussion: """
            Each verb reads the pin file as clients do, changes one thing, and replaces the file as a whole. If anything \
            fails, the file stays as it is. Fields that this version does not know stay in it. What changes is printed.

            A change that may take a host from clients is made only if they get in with what it shows: its servers are \
            asked, and the same outlook judges that check and rollover use. Before you publish the file, run holdfastctl check \
            --pins FILE, which judges everything else that clients may hold as well.

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
