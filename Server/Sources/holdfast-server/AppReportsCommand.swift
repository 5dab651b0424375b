import ArgumentParser
import HoldfastServer

/// Shows what clients of an app report, and says whether it takes that.
struct AppReportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports", abstract: "Show what clients of an app report, or take reports from now on.",
        discussion: """
            Clients send reports to /reports?appName=APP. Numbers are of reports, scaled as these say that they were \
            sampled, and never of clients; anybody can forge them. They warn, and may hold a canary.
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

    func validate() throws {
        guard !isOn || !isOff else { throw ValidationError("Give --on or --off, or neither.") }
    }

    func run() async throws {
        let name = try AppName(app)
        try await server.withServer { open in
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
