import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerStore

/// Confirms the clock after a problem that only a person can resolve.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Vouch for the clock of this machine, so that the server signs again.",
        discussion: """
            The server signs and evaluates nothing while its clock is before the last signature, was set by more than \
            ten minutes, or is seven days after the server last ran. A corrected clock needs no command, unless \
            something was signed in between. Compare the clock with others first: from then on it is trusted, and the \
            audit records who confirmed it. Servers that run follow within seconds. Changes that were proposed at a \
            future time lapse.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Flag(help: "The clock is right now.")
    var clock = false
    @Flag(help: "Do not ask.")
    var yes = false

    func validate() throws {
        guard clock else { throw ValidationError("Say what is right again: --clock.") }
    }

    func run() async throws {
        try await server.withServer { open in
            guard let problem = open.catalog.clockProblem else {
                Terminal.line("The clock is believed as it is; nothing was written.")
                return
            }
            Terminal.line("\(problem)")
            let now = CommandValue.time(Int64(SystemWallClock().now.timeIntervalSince1970))
            guard yes || Terminal.agrees(to: "Is it \(now) now?") else {
                throw NegativeAnswer(words: "nothing was resumed")
            }
            guard let resumption = try await open.catalog.resumeClock(by: actor.actor) else { return }
            Terminal.line("resumed at \(CommandValue.time(resumption.now))")
            for change in resumption.lapsed { Terminal.line("change \(change) has lapsed: propose it again") }
            guard resumption.now < resumption.signed else { return }
            Terminal.line(
                """
                Documents were signed until \(CommandValue.time(resumption.signed)). Clients of a trust server that have \
                one of those refuse newer ones for at most a day, and go on with what they have.
                """)
        }
    }
}
