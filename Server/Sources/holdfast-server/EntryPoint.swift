import ArgumentParser
import Foundation
import ServerFoundation

/// The entry point, and the only place that maps results to exit codes: 0 for success, 1 for a negative answer, 2 for
/// wrong usage, 3 if there is no answer, and 5 if a certificate must be installed now.
@main
enum EntryPoint {
    static func main() async {
        CoreDumps.disable()
        // A service file could change libpq's connection settings unnoticed. No other thread runs yet.
        unsafe unsetenv("PGSERVICE")
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) async -> Int32 {
        // Messages repeat names of apps, people and files, and a line break in one of them would forge a line. A program's
        // arguments may be on several lines.
        let others = zip([""] + arguments, arguments).filter { $0.0 != "--program" }.map(\.1)
        if let argument = others.first(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) {
            Terminal.complain(
                "expected arguments without line breaks, found \"\(Terminal.escaped(String(argument.prefix(80))))\". Give "
                    + "the text in one line, and rename a file whose name has a line break.")
            return 2
        }
        do {
            var command = try ServerCommand.parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch let error as ServerError {
            Terminal.complain("\(error)")
            return negative.contains(error.code) ? 1 : error.code == .invalidValue ? 2 : 3
        } catch let answer as NegativeAnswer {
            Terminal.complain(answer.words)
            return answer.status
        } catch {
            let code = ServerCommand.exitCode(for: error)
            let text = ServerCommand.fullMessage(for: error)
            if code.isSuccess { Terminal.printAsIs(text) } else { Terminal.complain(text) }
            return code.isSuccess ? 0 : code == .validationFailure ? 2 : 3
        }
    }

    private static let negative: Set<ServerError.Code> = [
        .gate, .notApproved, .rejected, .notForThis, .invalidSignature, .unsupportedAlgorithm, .outOfTurn,
    ]
}
