import ArgumentParser
import PinPublication
import ServerFoundation
import ServerWeb

/// Reports whether an announced certificate may be installed.
struct GateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate", abstract: "Say whether a certificate that was announced may be installed on its host now.",
        discussion: """
            Clients of every age meet it: those that have what is published, and those that still go on with what was. \
            Exit code 0 if all of them get in with it, 1 if not, and 5 if it must be installed now, and people alerted: \
            what is served has ended, or ends before the wait is over, so that some clients are locked out either way. \
            On other machines, ask the administration's listener with a token that token add --gate made.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: AnswerOptions
    @Argument(help: "The app.")
    var app: String
    @Argument(help: "The host, NAME or NAME:PORT.")
    var host: String
    @Option(help: "The certificate, or its chain, PEM or DER.", completion: .file())
    var certificate: String?
    @Option(help: "The SHA-256 of the certificate, of its key, or of a key that was announced: 64 hexadecimal digits.")
    var digest: String?

    func validate() throws {
        guard (certificate == nil) != (digest == nil) else {
            throw ValidationError("Name what is to be installed with --certificate, or with --digest.")
        }
    }

    /// The advice if waiting alone does not help.
    private static func advice(_ app: AppName) -> String {
        "have a change published with it, and ask again: `holdfast-server status --data DIR` says what \(app) waits for"
    }

    func run() async throws {
        let name = try AppName(app)
        let wanted =
            try certificate.map { Digest(of: try InputFile.certificates($0)[0]) }
            ?? CommandValue.digest(digest ?? "")
        let readiness = try await server.withServer { open in
            try await open.publisher.readiness(
                of: wanted, on: CommandValue.host(host, of: name, open.catalog), of: name)
        }
        if answer.json { JSONAnswer.print(AdministrationView.readiness(readiness)) }
        if let alert = readiness.alert { throw NegativeAnswer(words: alert, status: NegativeAnswer.installNow) }
        let until = readiness.until.map(CommandValue.time)
        guard readiness.isReady else {
            throw NegativeAnswer(
                words: "not yet: \(readiness.words); "
                    + (until.map { "ask again from \($0) on" } ?? Self.advice(name)))
        }
        guard !answer.json else { return }
        Terminal.line("ready: every client gets in with it" + (until.map { ", until \($0)" } ?? ""))
    }
}
