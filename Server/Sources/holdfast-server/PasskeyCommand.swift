import ArgumentParser
import Foundation
import PinPublication
import ServerApprovals
import ServerModel
import ServerStore

/// Shows and removes passkeys.
struct PasskeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Show the passkeys that were registered, or remove one.",
        subcommands: [List.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the passkeys: whose, for what, the digest of the key, and where each was made.")
        @OptionGroup var server: ServerOptions

        func run() async throws {
            try await server.withServer { open in
                for passkey in try await open.catalog.passkeys() {
                    let what =
                        "\(passkey.person)  \(CommandValue.right(passkey.purpose, passkey.scope))\(CommandValue.apps(passkey.apps))"
                    Terminal.line("\(what)  \(passkey.key.identity)  \(passkey.party.origin)")
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a passkey, and end its sessions. A statement of approvers that names it stays as it is.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The digest of its key, as passkey list shows it.")
        var passkey: String

        func run() async throws {
            let identity = try CommandValue.digest(passkey)
            try await server.withServer { open in
                try await open.catalog.removePasskey(identity, by: actor.actor)
                if try await open.catalog.approvers().head.approvers.member(identity) != nil {
                    Terminal.line("The statement of approvers still names it: replace that with approvers propose.")
                }
            }
        }
    }
}

/// Shows and ends sessions.
struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Show who is signed in, or sign people out.",
        subcommands: [List.self, End.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show who is signed in, until when.")
        @OptionGroup var server: ServerOptions

        func run() async throws {
            try await server.withServer { open in
                for session in try await open.catalog.sessions() {
                    let end = CommandValue.time(session.end)
                    Terminal.line("\(session.session)  \(session.passkey.person)  until \(end)")
                }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a session at once, or all of them.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The session, as session list shows it.")
        var session: String?
        @Flag(help: "End all sessions.")
        var all = false

        func run() async throws {
            guard (session == nil) == all else { throw ValidationError("Name a session, or --all.") }
            let digest = try session.map { try CommandValue.digest($0) }
            try await server.withServer { open in
                guard let digest else {
                    let count = try await open.catalog.endAllSessions(by: actor.actor)
                    Terminal.line("\(count) sessions were ended")
                    return
                }
                try await open.catalog.endSession(digest, by: actor.actor)
            }
        }
    }
}
