import ArgumentParser
import Foundation

/// Where the program begins, and the one place that turns what happened into an exit code.
@main
enum EntryPoint {
    static func main() async {
        var command: any ParsableCommand
        do {
            command = try Holdfastctl.parseAsRoot()
        } catch {
            exit(status(ofArguments: error))
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Output.standard.complain(failure.message)
            exit(failure.status.rawValue)
        } catch let answer as NegativeAnswer {
            exit(answer.status.rawValue)
        } catch {
            // The verb `help` and a missing verb show only when they are run.
            exit(status(ofArguments: error))
        }
    }

    /// Help, the version and completion scripts are what was asked for; everything else is said on standard error.
    private static func status(ofArguments error: any Error) -> Int32 {
        let code = Holdfastctl.exitCode(for: error)
        let text = Holdfastctl.fullMessage(for: error)
        guard !code.isSuccess else {
            Output.standard.printAsIs(text)
            return code.rawValue
        }
        Output.standard.complainAsIs(text)
        let status: CommandFailure.Status = code == .validationFailure ? .wrongUsage : .couldNotFindOut
        return status.rawValue
    }
}
