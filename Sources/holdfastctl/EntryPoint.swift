import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The program's entry, and the only code that turns a result into an exit code.
@main
enum EntryPoint {
    static func main() async {
        openStandardDescriptors()
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        guard status == 0, let reason = Output.whatWasLost else { exit(status) }
        // A script must not mistake half an answer for a complete one.
        Output.standard.complain("standard output cannot be written: \(reason)")
        exit(CommandFailure.Status.couldNotFindOut.rawValue)
    }

    /// Opens closed standard descriptors. Otherwise the next opened file would get their number, and all printed text.
    private static func openStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    /// Runs the command that the arguments name.
    /// - Returns: its exit code.
    static func run(_ arguments: [String]) async -> Int32 {
        guard !arguments.contains(where: PrivateKeyArgument.isOne) else {
            Output.standard.complain(PrivateKeyArgument.message)
            return CommandFailure.Status.wrongUsage.rawValue
        }
        // Messages repeat names of files and hosts, and a line break in one of them would forge a line.
        if let argument = arguments.first(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) {
            Output.standard.complain(
                "expected arguments without line breaks, found \(argument.quoted). Give the text in one line, and rename a "
                    + "file whose name has a line break.")
            return CommandFailure.Status.wrongUsage.rawValue
        }
        do {
            return await run(try command(arguments), of: arguments)
        } catch {
            return TUFCommand.status(status(of: arguments, refusedBy: error), of: arguments)
        }
    }

    /// Runs a command that was read from these arguments.
    /// - Returns: its exit code.
    static func run(_ parsed: any ParsableCommand, of arguments: [String]) async -> Int32 {
        var command = parsed
        do {
            // Every verb has this flag, and none has an option whose value it could be.
            let isQuiet = arguments.prefix { $0 != "--" }.contains("--quiet")
            if var asynchronous = command as? any AsyncParsableCommand {
                try await Output.$isQuiet.withValue(isQuiet) { try await asynchronous.run() }
            } else {
                try Output.$isQuiet.withValue(isQuiet) { try command.run() }
            }
        } catch let failure as CommandFailure {
            Output.standard.complain(failure.message)
            return failure.status.rawValue
        } catch let error as PublishingError {
            let failure = CommandFailure(error)
            Output.standard.complain(failure.message)
            return failure.status.rawValue
        } catch let answer as NegativeAnswer {
            return answer.status.rawValue
        } catch {
            // The verb `help` and a missing verb are noticed only when they are run.
            return status(of: arguments, failingWith: error)
        }
        return 0
    }

    /// The verb that arguments name, with their values.
    static func command(_ arguments: [String]) throws -> any ParsableCommand { try Holdfastctl.parseAsRoot(arguments) }

    /// Prints no message of a library as it is, because it may contain input.
    private static func status(of arguments: [String], failingWith error: any Error) -> Int32 {
        guard !(error is ValidationError), !Holdfastctl.exitCode(for: error).isSuccess else {
            return status(of: arguments, refusedBy: error)
        }
        Output.standard.complain(ForeignErrorText.whole(error))
        return CommandFailure.Status.couldNotFindOut.rawValue
    }

    /// Help, the version and completion scripts go to standard output, because they were asked for. Everything else
    /// goes to standard error.
    private static func status(of arguments: [String], refusedBy error: any Error) -> Int32 {
        let code = Holdfastctl.exitCode(for: error)
        let text = Holdfastctl.fullMessage(for: error)
        guard !code.isSuccess else {
            Output.standard.printAsIs(text)
            return code.rawValue
        }
        Output.standard.complainAsIs(UserInformation.removed(from: text, arguments: arguments))
        let status: CommandFailure.Status = code == .validationFailure ? .wrongUsage : .couldNotFindOut
        return status.rawValue
    }
}
