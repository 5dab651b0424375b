import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// `holdfastctl pins diff`
struct PinsDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say what differs between two pin files, and what that does to clients.",
        usage: "holdfastctl pins diff <old pin file> <new pin file> [<options>]",
        discussion: """
            Prints each difference in words. If clients with the old file connect to a host that they would refuse with the \
            new one, whatever its servers show, or if the pin of a key in use is gone, the command says so and exits with \
            1. Whether servers show other keys than the files say is what check --pins finds out.

            EXAMPLES
              holdfastctl pins diff published.pins.json bank.pins.json
              git show HEAD:bank.pins.json | holdfastctl pins diff - bank.pins.json

            Exit codes: 0 equal, or nobody is locked out by the difference, 1 clients would be refused, or a file is not a \
            pin file, 2 wrong usage, 3 a file could not be read.

            With --json one object is printed: verdict, old, new, isEqual, changes, lockedOut, warnings.
            """)

    @Argument(help: ArgumentHelp("The pin file that clients have.", valueName: "old pin file"), completion: .file())
    var old: String

    @Argument(help: ArgumentHelp("The pin file that they get.", valueName: "new pin file"), completion: .file())
    var new: String

    @OptionGroup
    var printing: PrintOptions

    private struct Report: Encodable {
        let verdict: String
        let old: String
        let new: String
        let isEqual: Bool
        let changes: [String]
        let lockedOut: [String]
        let warnings: [String]
    }

    func run() async throws {
        let files = try [old, new].map { path in
            try PinFileReading.document(
                try InputFile.content(of: path, maximumBytes: PinFileReading.maximumBytes), named: path)
        }
        let comparison = PinFileComparison(from: files[0], to: files[1], at: SystemWallClock().now)
        let lockedOut = comparison.risks.filter(\.locksOut).map(\.text)
        let verdict =
            comparison.changes.isEmpty
            ? "No difference"
            : lockedOut.isEmpty ? "Nobody is locked out by the difference" : "CLIENTS WOULD BE REFUSED"
        let report = Report(
            verdict: verdict, old: old, new: new, isEqual: comparison.changes.isEmpty, changes: comparison.changes,
            lockedOut: lockedOut, warnings: comparison.risks.filter { !$0.locksOut }.map(\.text))
        let output = Output.standard
        if printing.json {
            try output.json(report)
        } else if !printing.quiet || !lockedOut.isEmpty {
            output.line(verdict, lockedOut.isEmpty ? .good : .bad)
            for line in lockedOut { output.line("  \(SafeText.escapedLine(line))", .bad) }
            if !report.changes.isEmpty { output.heading("What changes") }
            for line in report.changes { output.line("  \(SafeText.escapedLine(line))") }
            for line in report.warnings { output.remark("warning: \(SafeText.escapedLine(line))") }
        }
        if !lockedOut.isEmpty { throw NegativeAnswer() }
    }
}
