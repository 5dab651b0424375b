import ArgumentParser
import Foundation
import HoldfastServer

/// Says where documents go besides the folder.
struct PlaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "place", abstract: "Have programs upload documents to places besides the folder.",
        discussion: """
            A program gets an upload plan on standard input, in a folder with the files. It must write each object on \
            its condition, as scripts/publish-s3 does; one that cannot is run by one machine only (--not-fenced-on). What \
            clients find at --url decides whether it has uploaded.
            """,
        subcommands: [Add.self, Remove.self, List.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a place of an app, or replace the one of this name.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "What the place is called, such as bucket.")
        var name: String
        @Option(help: "The address below which clients find documents.")
        var url: String
        @Option(help: "How many seconds the program may take.")
        var limit: Int64 = 120
        @Option(help: "For a program without conditions: the host name of the one machine that runs it.")
        var notFencedOn: String?
        @Option(help: "The program: its whole path and its arguments; quotes keep blanks together.")
        var program: String

        func run() async throws {
            let place = try Place(
                name: name, url: url, program: ProgramCommand(CommandValue.words(program), limit: limit),
                onlyPublisher: notFencedOn)
            let name = try AppName(app)
            try await server.withServer { open in
                try await open.catalog.set(place, of: name, by: actor.actor)
                for finding in try await open.publisher.placeFindings(of: name) { Terminal.line(finding.words) }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a place of an app. What is there stays, and is not renewed anymore.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "The place.")
        var name: String

        func run() async throws {
            let app = try AppName(app)
            try await server.withServer { open in
                try await open.catalog.removePlace(name, of: app, by: actor.actor)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the places of an app, and how they stand.")
        @OptionGroup var server: ServerOptions
        @Argument(help: "The app.")
        var app: String

        func run() async throws {
            let app = try AppName(app)
            try await server.withServer { open in
                for standing in try await open.publisher.placeStandings(of: app) {
                    let place = standing.place
                    Terminal.line("\(place.name)  \(place.url.absoluteString)  \(place.program.path)")
                    for words in [standing.words] + standing.notes.map(\.words) { Terminal.line("  \(words)") }
                }
            }
        }
    }
}
