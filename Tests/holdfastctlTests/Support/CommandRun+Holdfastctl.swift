import Foundation
import HoldfastTesting
import Testing

extension CommandRun {
    static let program = program("holdfastctl")

    /// Runs the command as it was built beside the tests. Of the variables that it reads, its environment has only those
    /// in `environment`.
    static func holdfastctl(
        _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil
    ) async throws -> CommandRun {
        let run = try await run(try #require(program), arguments, environment: environment, in: folder)
        DocumentedFields.check(run.output, of: arguments)
        return run
    }

    /// Runs a script of the shell, for which `$HOLDFASTCTL` is the command.
    static func shell(_ script: String, in folder: URL) async throws -> CommandRun {
        try await run(
            URL(filePath: "/bin/bash"), ["-c", script], environment: ["HOLDFASTCTL": try #require(program).path],
            in: folder)
    }
}
