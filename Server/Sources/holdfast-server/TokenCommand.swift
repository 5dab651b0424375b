import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Creates and revokes tokens for the administration listener.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make and end tokens for the administration over HTTP. None of them approves.",
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token, and print it once.",
            discussion: """
                read looks at everything and hands in approvals, propose also announces and proposes, administer also \
                withdraws and publishes. With --gate the token asks whether a certificate may be installed on these \
                hosts, and nothing else.

                Only the digest of the token is stored. If you lose the token, make another one. It is printed to \
                standard output, alone.
                """)
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "What to call it, also in the audit.")
        var name: String
        @Option(help: "The only app that it is for.")
        var app: String?
        @Flag(help: "It is for all apps.")
        var everyApp = false
        @Option(help: "What it is for: read, propose or administer.")
        var scope: String?
        @Option(help: "A host whose certificates are installed with it, NAME or NAME:PORT. Repeat it.")
        var gate: [String] = []
        @Option(help: "For how many days it counts.")
        var days: Int64 = 90

        func validate() throws {
            guard (app == nil) == everyApp else { throw ValidationError("Name its --app, or --every-app.") }
            guard (scope == nil) != gate.isEmpty else { throw ValidationError("Give a --scope, or hosts with --gate.") }
            guard gate.isEmpty || !everyApp else { throw ValidationError("A gate is for one app: name its --app.") }
            guard (1...3_660).contains(days) else {
                throw ValidationError("A token counts for 1 to 3660 days: give that as --days.")
            }
        }

        private func read() throws -> TokenGrant.Scope {
            switch scope {
            case nil:
                return .gate(hosts: gate.map { $0.utf8.contains(UInt8(ascii: ":")) ? $0 : "\($0):443" })
            case "read": return .read
            case "propose": return .propose
            case "administer": return .administer
            default: throw ValidationError("Give a --scope: read, propose or administer.")
            }
        }

        func run() async throws {
            let end = Int64(SystemWallClock().now.timeIntervalSince1970) + days * 86_400
            let grant = try TokenGrant(name: name, app: app.map { try AppName($0) }, scope: read(), end: end)
            try await server.withServer { open in
                var generator = SystemRandomNumberGenerator()
                let token = try await open.catalog.add(grant, by: actor.actor, using: &generator)
                Terminal.line(token.secretText)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the tokens, without what is secret.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var answer: AnswerOptions

        func run() async throws {
            let now = Int64(SystemWallClock().now.timeIntervalSince1970)
            try await server.withServer { open in
                for grant in try await open.catalog.tokens() {
                    guard !answer.json else {
                        JSONAnswer.print(Self.members(of: grant, at: now))
                        continue
                    }
                    let end = CommandValue.time(grant.end)
                    Terminal.line(
                        "\(grant.name)  \(grant.app.map { "\($0)" } ?? "every app")  \(grant.scopeText)  "
                            + (now <= grant.end ? "until \(end)" : "ENDED \(end)"))
                }
            }
        }

        private static func members(of grant: TokenGrant, at now: Int64) -> [String: CanonicalJSON] {
            var members: [String: CanonicalJSON] = [
                "name": .text(grant.name), "scope": .text(grant.scopeText), "end": AdministrationView.time(grant.end),
                "hasEnded": .boolean(now > grant.end),
            ]
            if let app = grant.app { members["app"] = .text("\(app)") }
            return members
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a token at once.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The token's name.")
        var name: String

        func run() async throws {
            try await server.withServer { open in try await open.catalog.revokeToken(name, by: actor.actor) }
        }
    }
}
