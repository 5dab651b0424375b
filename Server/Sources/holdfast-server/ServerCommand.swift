import ArgumentParser
import Holdfast

/// The root command.
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-server",
        abstract: "Publish the pins of apps: changes that people approve with signatures, in every format.",
        discussion: """
            Exit codes: 0 success, 1 a negative answer (a gate refuses, approvals are missing), 2 wrong usage, 3 could \
            not find out. Errors go to standard error.

            EXAMPLES
              holdfast-server genesis --approver alice=alice.pub --approver bob=bob.pub \\
                --approver carol=carol.pub --number 2 --output genesis.txt
              holdfast-server sign genesis.txt --key alice.pem --output alice.sig
              holdfast-server init --data /srv/pins --secret /etc/holdfast/secret \\
                --genesis genesis.txt --signature alice.sig --signature bob.sig \\
                --signature carol.sig --no-recovery-copy
              holdfast-server app add bank --data /srv/pins --anchors roots.pem --no-shipped-pins
              holdfast-server change propose bank --data /srv/pins --format list --reason first
            """,
        version: HoldfastRelease.version,
        subcommands: [
            ServeCommand.self, GenesisCommand.self, SignCommand.self, InitCommand.self,
            ApproversCommand.self, AppCommand.self, PlaceCommand.self,
            HostCommand.self, NextCommand.self, GateCommand.self, ChangeCommand.self, ApproveCommand.self,
            RejectCommand.self,
            PublishCommand.self, RenewCommand.self, RevertCommand.self, StatusCommand.self, DoctorCommand.self,
            HealthCommand.self,
            TokenCommand.self, InvitationCommand.self, PasskeyCommand.self, SessionCommand.self,
            BackupCommand.self, RestoreCommand.self, MigrateCommand.self, ResealCommand.self, ResumeCommand.self,
            ImportCommand.self,
        ])
}
