import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Adds hosts, and probes them.
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Add the hosts that an app dials, and see what they show.",
        subcommands: [Add.self, List.self, See.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a host, or replace how it is dialed.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "The host's name, in lower case.")
        var host: String
        @Option(help: "The port.")
        var port: Int64 = 443
        @Option(help: "The address to dial instead of those of the name.")
        var dial: String?
        @Option(help: "How its certificates are renewed: announced, same-key or issuer.")
        var renewal: String = "announced"
        @Flag(help: "It has keys of one kind only: do not ask it for another.")
        var oneKeyKind = false

        func run() async throws {
            guard let renewal = CatalogHost.Renewal(rawValue: renewal) else {
                throw ValidationError("Say how the host is renewed: --renewal announced, same-key or issuer.")
            }
            let host = try CatalogHost(name: host, port: port, dial: dial, renewal: renewal, hasOneKeyKind: oneKeyKind)
            try await server.withServer { open in
                try await open.catalog.set(host, of: AppName(app), by: actor.actor)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the hosts of an app, and what was seen.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var answer: AnswerOptions
        @Argument(help: "The app.")
        var app: String

        func run() async throws {
            try await server.withServer { open in
                let app = try AppName(app)
                _ = try await open.catalog.app(app)
                for view in try await open.catalog.hostViews(of: app) {
                    let (host, observations, next) = (view.host, view.seen, view.next)
                    guard !answer.json else {
                        JSONAnswer.print(AdministrationView.host(host, seen: observations, next: next))
                        continue
                    }
                    Terminal.line(host.label)
                    for seen in observations {
                        let shown =
                            seen.chain.map { "certificate \(Digest(of: $0.certificates[0]))" } ?? seen.failure ?? ""
                        Terminal.line(
                            "  \(seen.address)  \(shown), last seen \(CommandValue.time(seen.lastSeen)) from \(seen.vantage)"
                        )
                    }
                    for chain in next.chains {
                        Terminal.line(
                            "  next  certificate \(Digest(of: chain.chain.certificates[0])), from \(CommandValue.time(chain.begins)) on"
                        )
                    }
                    for key in next.keys { Terminal.line("  next  key \(Digest(of: key))") }
                }
            }
        }
    }
}
