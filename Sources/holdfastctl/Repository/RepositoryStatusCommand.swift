import ArgumentParser
import Foundation
import Holdfast
import HoldfastSigning

/// `holdfastctl repository status`
struct RepositoryStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether clients take what is published, until when, and what is prepared.",
        usage: "holdfastctl repository status <folder> [<options>]",
        discussion: """
            Clients with the first root go through what is published, both as bundle.json and file by file. Then it \
            prints each role with its version, end and keys, and which signatures the drafts lack.

            EXAMPLES
              holdfastctl repository status site
              holdfastctl repository status site --watch 10

            Exit codes: 0 clients take it, 1 they do not, nothing is published, or with --watch something ends too \
            soon, 2 wrong usage, 3 a file could not be read.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @Option(help: ArgumentHelp("Fail if anything ends in less than so many days.", valueName: "days"))
    var watch: Int?

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        if let watch, !(1...36_500).contains(watch) {
            throw ValidationError("The days to watch must be between 1 and 36500, not \(watch).")
        }
    }

    func run() async throws {
        let now = SystemWallClock().now
        let state = try await place.state()
        var report = try await verdict(on: state, at: now)
        try report.take(state, at: now)
        try report.takeDrafts(state, withChanges: false)
        if !state.hasNoDraft {
            report.next.append("holdfastctl repository sign \(place.path), which shows what is prepared")
        }
        try report.print(asJSON: json)
        guard report.isGood else { throw NegativeAnswer() }
    }

    private func verdict(on state: TUFRepositoryState, at now: Date) async throws(CommandFailure) -> RepositoryReport {
        guard let live = state.live else { return RepositoryReport("Nothing is published", isGood: false) }
        do throws(TUFRepositoryError) {
            try await place.folder.verify(at: now)
        } catch {
            if error.code == .outOfStep {
                return RepositoryReport(
                    "bundle.json is of \(error.found), the files are of \(error.expected): publish again", isGood: false
                )
            }
            guard error.code == .refusedByClients else { throw CommandFailure(error) }
            return RepositoryReport("Clients refuse it: \(error.found)", isGood: false)
        }
        guard let watch else { return RepositoryReport("Clients take it") }
        let watching = RepositoryWatch(days: watch)
        let all =
            watching.endings(of: state, at: now)
            + [live.snapshot, live.timestamp].compactMap {
                watching.line("\($0.role.rawValue) \($0.version)", $0.expires, now)
            }
        guard let first = all.first else { return RepositoryReport("Clients take it") }
        var report = RepositoryReport("Ends too soon: \(first)", isGood: false)
        report.warnings = Array(all.dropFirst())
        return report
    }
}
