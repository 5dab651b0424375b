import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Invites people to make passkeys.
struct InvitationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitation",
        abstract: "Invite a person to make a passkey. Approvers sign the invitation like a change.",
        discussion: """
            Anyone who has the link can make the passkey, so send it over a private channel. A passkey for approvals \
            is not valid before a statement of approvers names it (approvers propose --passkey).

            EXAMPLES
              holdfast-server invitation prepare --data /srv/pins --person dave \\
                --purpose approval --link dave.link --output dave.txt
              holdfast-server sign dave.txt --key alice.pem --output alice.dave
              holdfast-server invitation open dave.txt --data /srv/pins \\
                --signature alice.dave --signature bob.dave
              holdfast-server invitation prepare --data /srv/pins --person erin \\
                --purpose sign-in --app bank --link erin.link --output erin.txt
            """,
        subcommands: [Prepare.self, Open.self, List.self])

    struct Prepare: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write an invitation, to be signed, and the link for the person who is invited.")
        @OptionGroup var server: ServerOptions
        @Option(help: "Who is invited, for people to read.")
        var person: String
        @Option(help: "What the passkey is for: sign-in or approval.")
        var purpose: String
        @Option(help: "An app that the person sees or approves; all if absent. Repeat it.")
        var app: [String] = []
        @Option(help: "What signing in allows beside reading: propose or administer.")
        var scope: String?
        @Option(help: "The origin of the pages in browsers, https://NAME, if serve has not set it.")
        var adminOrigin: String?
        @Option(help: "For how many days it counts.")
        var days: Int64 = 7
        @Option(help: "The file for the link, which only that person may read.", completion: .file())
        var link: String
        @Option(help: "The file to write.", completion: .file())
        var output: String

        func run() async throws {
            guard (1...30).contains(days) else {
                throw ValidationError("An invitation counts for 1 to 30 days: give that as --days.")
            }
            guard let purpose = PasskeyPurpose(rawValue: purpose) else {
                throw ValidationError("Say what the passkey is for: --purpose sign-in or approval.")
            }
            let scopes = ["propose": TokenGrant.Scope.propose, "administer": .administer]
            guard let right = scope.map({ scopes[$0] }) ?? .read else {
                throw ValidationError("Say what signing in allows: --scope propose or administer.")
            }
            let apps: Set<AppName>? = app.isEmpty ? nil : Set(try app.map { try AppName($0) })
            let given = try adminOrigin.map { try RelyingParty(origin: $0) }
            let end = Int64(SystemWallClock().now.timeIntervalSince1970) + days * 86_400
            try await server.withServer { open in
                guard let pages = given ?? open.catalog.pages else {
                    throw ValidationError(
                        "The origin of the pages is not known. Pass --admin-origin with the same value as for serve.")
                }
                for app in apps ?? [] { _ = try await open.catalog.app(app) }
                var generator = SystemRandomNumberGenerator()
                let token = AccessToken(using: &generator)
                let invitation = try InvitationText(
                    server: open.catalog.server, token: token.digest, person: person, purpose: purpose, apps: apps,
                    scope: right, approvers: try await open.catalog.approvers().head.digest, end: end)
                try InputFile.create(output, invitation.bytes)
                let address = "\(pages.origin)/invitation/\(token.digest)#\(token.secretText)\n"
                try InputFile.create(link, Array(address.utf8), mode: 0o600)
                let what = "\(output): \(person), \(CommandValue.right(purpose, right))\(CommandValue.apps(apps)), "
                Terminal.line(what + "until \(CommandValue.time(end))")
                Terminal.line("Next, approvers: holdfast-server sign \(output) --key KEY --output NAME.sig")
            }
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Activate a signed invitation. Anyone who has its link can then make the passkey, once.")
        @OptionGroup var server: ServerOptions
        @Argument(help: "The invitation.", completion: .file())
        var invitation: String
        @Option(help: "The signature of an approver. Repeat it.", completion: .file())
        var signature: [String]

        func run() async throws {
            let signed = SignedInvitation(
                text: try InputFile.bytes(invitation), signatures: try InputFile.signatures(signature))
            try await server.withServer { open in try await open.catalog.invite(signed) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the unused invitations.")
        @OptionGroup var server: ServerOptions

        func run() async throws {
            let now = Int64(SystemWallClock().now.timeIntervalSince1970)
            try await server.withServer { open in
                let head = try await open.catalog.approvers().head.digest
                for invitation in try await open.catalog.invitations() {
                    let end = CommandValue.time(invitation.end)
                    let standing =
                        invitation.approvers != head
                        ? "OF EARLIER APPROVERS" : now <= invitation.end ? "until \(end)" : "ENDED \(end)"
                    let right = CommandValue.right(invitation.purpose, invitation.scope)
                    let what = "\(right)\(CommandValue.apps(invitation.apps))"
                    Terminal.line("\(invitation.person)  \(what)  \(standing)")
                }
            }
        }
    }
}
