import ArgumentParser
import HoldfastServer

/// Says which versions of an application are too old, and what their users read.
struct AppAnswersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers",
        abstract: "Replace the rules for versions of an application, and the texts for its users.",
        discussion: """
            Answers to challenges have them once a change is published that was proposed afterward. A rule has platform \
            (IOS or ANDROID) and, if wanted, majorSystemVersion, suggested, required and messageKey; a text has key, \
            language and text.

            EXAMPLES
              {"versions": [{"platform": "IOS", "required": "2.0.0", "messageKey": "old"}],
               "texts": [{"key": "old", "language": "en", "text": "Please update."}]}
            """)
    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Argument(help: "The app.")
    var app: String
    @Option(help: "A file with versions and texts, JSON.", completion: .file())
    var file: String

    func run() async throws {
        let name = try AppName(app)
        let answers = try AnswersFile(InputFile.octets(file), named: file)
        try await server.withServer { open in
            try await open.catalog.set(
                versions: answers.versions, texts: answers.texts, of: name, by: actor.actor)
        }
    }
}
