import ArgumentParser

/// `holdfastctl trust-server`
struct TrustServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust-server",
        abstract: "Run the trust server of online pinning: make its key, sign and publish the pins of hosts.",
        discussion: """
            The command uses the files of the published signing script, so it can replace the script in a cron job: \
            the hosts in data/CUSTOMER.domains, the document in output/CUSTOMER.json.signed, the certificate for the \
            app in output/CUSTOMER.crt (DER) and output/CUSTOMER.pem. The private key is data/CUSTOMER.key or, if that \
            does not exist, the script's certs/CUSTOMER.key.

            EXAMPLES
              holdfastctl trust-server init --customer acme
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --no-shipped-pins
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --every 5m
              holdfastctl trust-server status --customer acme --domains data/acme.domains
              holdfastctl trust-server approve www.example.com --customer acme \\
                --domains data/acme.domains
            """,
        subcommands: [
            TrustServerInitCommand.self, TrustServerShowCommand.self, TrustServerPublishCommand.self,
            TrustServerStatusCommand.self, TrustServerApproveCommand.self,
        ])

    func run() async throws {
        throw ValidationError("Say what to do: init, show, publish, status or approve.")
    }
}
