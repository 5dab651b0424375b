import ArgumentParser
import HostMonitoring
import PinPublication
import ServerFoundation
import ServerWeb

/// Shows the client reports of an app, and sets whether it takes them.
struct AppReportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports", abstract: "Show what clients of an app report, or take reports from now on.",
        discussion: """
            Clients send reports to /reports?appName=APP. The numbers count reports, scaled by their stated sampling, \
            not clients. Reports can be forged. They warn, and may hold a canary.

            With --sample the newest report with a certificate is printed as it is kept:
              holdfast-server app reports bank --sample SHA256 | holdfastctl show --report -
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @OptionGroup var answer: AnswerOptions
    @Argument(help: "The app.")
    var app: String
    @Flag(name: .customLong("on"), help: "Take reports from now on.")
    var isOn = false
    @Flag(name: .customLong("off"), help: "Take none from now on; what was counted stays for thirty days.")
    var isOff = false
    @Option(
        help: ArgumentHelp("Print the newest report with this certificate.", valueName: "sha256"),
        transform: CommandValue.digest)
    var sample: Digest?

    func validate() throws {
        guard [isOn, isOff, sample != nil].filter({ $0 }).count <= 1 else {
            throw ValidationError("Give one of --on, --off and --sample, or none.")
        }
    }

    func run() async throws {
        let name = try AppName(app)
        try await server.withServer { open in
            if let sample {
                let bytes = try await open.catalog.reportSample(of: name, showing: sample)
                return Terminal.printJSON(String(decoding: bytes, as: UTF8.self))
            }
            if isOn || isOff {
                try await open.catalog.set(ReportSettings(isEnabled: isOn), of: name, by: actor.actor)
            }
            let standing = try await open.catalog.reportStanding(of: name)
            if answer.json { return JSONAnswer.print(AdministrationView.reports(standing)) }
            Terminal.line("\(name) takes \(standing.isEnabled ? "" : "no ")reports")
            for line in standing.lines { Terminal.line("  \(line)") }
        }
    }
}
