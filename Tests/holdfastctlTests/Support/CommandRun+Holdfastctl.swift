import Foundation
import HoldfastOutput
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

extension CommandRun {
    static let program = program("holdfastctl")

    /// Runs the command inside this process, with everything from its arguments to its exit code. That takes a fraction of
    /// the time of another process.
    ///
    /// What a process has to itself is that of the test: its environment, standard input, terminal, signals. Tests that
    /// have to do with those start the program.
    /// - Parameter folder: the folder whose files the arguments name.
    static func inProcess(_ arguments: [String], in folder: URL? = nil) async throws -> CommandRun {
        try #require(folder == nil || !needsProcess(arguments), "start the program for \(arguments)")
        let local = folder.map { LocalArguments(arguments, in: $0) }
        let said = SaidLines()
        let status = await Output.$listener.withValue(said.add) {
            await onOwnThreads { await EntryPoint.run(local?.whole ?? arguments) }
        }
        let run = CommandRun(
            status: status, output: local?.local(said.output) ?? said.output,
            errors: local?.local(said.errors) ?? said.errors)
        DocumentedFields.check(run.output, of: arguments)
        return run
    }

    private static func onOwnThreads(_ command: () async -> Int32) async -> Int32 {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return await command() }
        return await withTaskExecutorPreference(CommandThreads(), operation: command)
    }

    /// Whether arguments need what only a process has: standard input, another descriptor, signals that end it, or the
    /// folder in which it runs, which trust servers have their own folders in.
    static func needsProcess(_ arguments: [String]) -> Bool {
        let needsFolder =
            arguments.first == "trust-server" && !["--domains", "--folder"].allSatisfy(arguments.contains)
        return needsFolder || ["-", "--password-fd", "--every"].contains(where: arguments.contains)
    }

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
