import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Announces a certificate or key of a host.
struct NextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Announce the certificate or key that a host has next.",
        subcommands: [Chain.self, Key.self, Withdraw.self])

    struct Chain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Announce a chain of certificates.")
        @OptionGroup var place: HostArguments
        @Option(help: "The chain, PEM, the server's own certificate first.", completion: .file())
        var chain: String
        @Option(help: "The first time at which it may be shown, such as 2026-12-24T12:00:00Z.")
        var from: String

        func run() async throws {
            let (chain, begins) = (
                try CertificateChain(InputFile.certificates(chain)), try CommandValue.seconds(from, of: "--from")
            )
            try await place.withHost { catalog, host, app, actor in
                try await catalog.announce(chain, from: begins, on: host, of: app, by: actor)
            }
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Announce a key that stands ready.")
        @OptionGroup var place: HostArguments
        @Option(
            help: "The public key, PEM or DER of a SubjectPublicKeyInfo, or a certificate request.", completion: .file()
        )
        var key: String

        func run() async throws {
            let bytes = try InputFile.bytes(key)
            try await place.withHost { catalog, host, app, actor in
                let der = try AnnouncedKey(bytes, named: key, for: host).bytes
                try await catalog.announce(key: der, on: host, of: app, by: actor)
            }
        }
    }

    struct Withdraw: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Withdraw one announcement, or everything that was announced for a host.")
        @OptionGroup var place: HostArguments
        @Option(help: "The SHA-256 of a certificate or key that was announced, in hexadecimal; without it all.")
        var digest: String?

        func run() async throws {
            let digest = try digest.map { text in
                guard let digest = Digest(hex: text.utf8) else {
                    throw ValidationError("--digest must be 64 lower-case hexadecimal digits.")
                }
                return digest
            }
            try await place.withHost { catalog, host, app, actor in
                if let digest { return try await catalog.withdraw(digest, on: host, of: app, by: actor) }
                try await catalog.withdrawNext(on: host, of: app, by: actor)
            }
        }
    }
}

/// The host, its app, and the actor for the audit.
struct HostArguments: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Argument(help: "The app.")
    var app: String
    @Argument(help: "The host, NAME or NAME:PORT.")
    var host: String

    func withHost(_ body: (Catalog, CatalogHost, AppName, String) async throws -> Void) async throws {
        try await server.withServer { open in
            let app = try AppName(app)
            try await body(open.catalog, try await CommandValue.host(host, of: app, open.catalog), app, actor.actor)
        }
    }
}
