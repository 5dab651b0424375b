import ArgumentParser
import Foundation
import HoldfastServer

/// Queries the state of a running server.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask the server that runs here how it is: exit code 0 or 1, and one line.",
        discussion: """
            For probes of containers, whose image has no other client. The address is taken from where serve takes it: a \
            flag, the variable HOLDFAST_SERVER_LISTEN, or the file of --config. If serve speaks TLS, give its certificate \
            and key by variables or by the file.
            """)

    @Argument(help: "live (restart it if not), ready (documents can be served) or writable (changes can be made).")
    var question: String = HealthCheck.Question.ready.rawValue
    @Option(help: "Where apps are answered: ADDRESS:PORT, 127.0.0.1:8080 if absent.")
    var listen: String?
    @Option(help: "A file with the settings of serve, JSON.", completion: .file())
    var config: String?

    func validate() throws { _ = try known }

    private var known: HealthCheck.Question {
        get throws {
            guard let known = HealthCheck.Question(rawValue: question) else {
                throw ValidationError("Ask with live, ready or writable; '\(question)' is none of them.")
            }
            return known
        }
    }

    func run() async throws {
        var flags: [ServeSettings.Name: String] = [:]
        flags[.listen] = listen
        let settings = try await ServeSettings(
            flags: flags, environment: ProcessInfo.processInfo.environment, file: config.map { URL(filePath: $0) })
        let answer = try await HealthCheck(settings).answer(to: known)
        guard answer.isGood else { throw NegativeAnswer(words: answer.text) }
        Terminal.line(answer.text)
    }
}
