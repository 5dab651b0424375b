import ArgumentParser
import Foundation
import PinPublication
import ServerFoundation
import ServerModel

/// Sets the address at which clients find the folder, and further upload destinations.
struct PlaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "place",
        abstract: "Say where clients find the folder, and have programs upload documents to places besides it.",
        discussion: """
            A program gets an upload plan on standard input, in a folder with the files. It must write each object on \
            its condition, as scripts/publish-s3 does; one that cannot is run by one machine only (--not-fenced-on). What \
            clients find at --url decides whether it has uploaded.

            The folder itself is the place called folder. It needs no program: something else serves it. With a --url for \
            it, a document counts as published once clients find it there. With an --answers-url, clients that follow a \
            canary ask challenges there, as apps do.

            EXAMPLES
              holdfast-server place add bank folder --data /srv/pins \\
                --url https://pins.example.com
            """,
        subcommands: [Add.self, Remove.self, List.self])

    /// The name of the server's own folder.
    fileprivate static let folder = "folder"

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a place of an app, or replace the one of this name.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "What the place is called, such as bucket; folder for the server's own.")
        var name: String
        @Option(help: "The address below which clients find documents.")
        var url: String
        @Option(help: "For the folder: the address below which apps ask challenges, at /app/init.")
        var answersURL: String?
        @Option(help: "How many seconds the program may take.")
        var limit: Int64 = 120
        @Option(help: "For a program without conditions: the host name of the one machine that runs it.")
        var notFencedOn: String?
        @Option(
            help: "The program: its whole path and its arguments; quotes keep blanks together. None for the folder.")
        var program: String?

        private var isFolder: Bool { name.utf8.elementsEqual(PlaceCommand.folder.utf8) }

        func validate() throws {
            guard (program == nil) == isFolder, !isFolder || notFencedOn == nil else {
                throw ValidationError("Give the --program that uploads to a place. The folder needs none.")
            }
            guard isFolder || answersURL == nil else {
                throw ValidationError("Give --answers-url with the folder: no place answers challenges.")
            }
        }

        func run() async throws {
            let app = try AppName(app)
            guard let program else {
                let address = try FolderAddress(url, answers: answersURL)
                return try await server.withServer { open in
                    try await open.catalog.set(address, of: app, by: actor.actor)
                    try await show(open, app)
                }
            }
            let place = try Place(
                name: name, url: url, program: ProgramCommand(CommandValue.words(program), limit: limit),
                onlyPublisher: notFencedOn)
            try await server.withServer { open in
                try await open.catalog.set(place, of: app, by: actor.actor)
                try await show(open, app)
            }
        }

        private func show(_ open: ServerFolder.Open, _ app: AppName) async throws {
            for finding in try await open.publisher.placeFindings(of: app) { Terminal.line(finding.words) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a place of an app. What is there stays, and is not renewed anymore.",
            discussion: "The folder stays; only its address is forgotten, and nothing is read back there anymore.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "The place.")
        var name: String

        func run() async throws {
            let app = try AppName(app)
            try await server.withServer { open in
                if name.utf8.elementsEqual(PlaceCommand.folder.utf8) {
                    return try await open.catalog.removeFolderAddress(of: app, by: actor.actor)
                }
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
                    let program = standing.place?.program.path ?? ""
                    Terminal.line("\(standing.name)  \(standing.url.absoluteString)  \(program)")
                    for words in [standing.words] + standing.notes.map(\.words) { Terminal.line("  \(words)") }
                }
                if let answers = try await open.catalog.folderAddress(of: app)?.answers {
                    Terminal.line("apps ask challenges at \(answers.absoluteString)")
                }
            }
        }
    }
}
