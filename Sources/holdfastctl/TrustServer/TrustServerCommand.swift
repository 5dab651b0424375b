import ArgumentParser

/// `holdfastctl trust-server`
struct TrustServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust-server",
        abstract: "Run the trust server of online pinning: sign and publish the pins of hosts.",
        discussion: """
            The command uses the files of the published signing script, so it can replace the script in a cron job: \
            the hosts in data/CUSTOMER.domains, the document in output/CUSTOMER.json.signed, the certificate for the \
            app in output/CUSTOMER.crt (DER) and output/CUSTOMER.pem. The private key is data/CUSTOMER.key or, if that \
            does not exist, the script's certs/CUSTOMER.key.

            EXAMPLES
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --no-shipped-pins --first-run
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --every 5m
              holdfastctl trust-server show --customer acme
            """,
        subcommands: [TrustServerPublishCommand.self, TrustServerShowCommand.self])

    func run() async throws {
        throw ValidationError("Say what to do: publish or show.")
    }
}
