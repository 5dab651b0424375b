import ArgumentParser
import Dispatch
import Foundation
import Holdfast

/// Shows a server on loopback, from a host to its clients.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch a whole server on loopback: a host, its next certificate, approvals, clients, attacks.",
        discussion: "It makes everything in a temporary folder, and needs no network. Exit code 1 if a step went wrong."
    )

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "holdfast-server-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let signals = Self.interrupted(removing: folder)
        defer { for signal in signals { signal.cancel() } }
        let failures = try await DemoStage.run(in: folder, clock: SystemWallClock()) { stage, address in
            let story = DemoStory(stage, at: address)
            try await story.tell()
            return await story.failures
        }
        guard failures == 0 else { throw NegativeAnswer(words: "\(failures) steps went wrong") }
        Terminal.line(
            "Everything went as it should: nobody was locked out, and nothing was signed that was not approved.")
    }

    /// Whoever stops it sees no steps that went wrong, and finds nothing of it.
    private static func interrupted(removing folder: URL) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                Terminal.report(
                    remove(folder)
                        ? "interrupted: the folder of the demo is removed"
                        : "interrupted: remove the folder of the demo, \(folder.path)")
                Terminal.end(128 + number)
            }
            source.activate()
            return source
        }
    }

    /// Removes a folder that is still written to: a file that is made meanwhile keeps the folder around it.
    /// - Returns: whether it is gone.
    private static func remove(_ folder: URL) -> Bool {
        for _ in 0..<1_000 {
            try? FileManager.default.removeItem(at: folder)
            if !FileManager.default.fileExists(atPath: folder.path) { return true }
        }
        return false
    }
}
