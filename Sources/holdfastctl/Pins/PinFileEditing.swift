import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The pin file that a verb changes, and how. It is read, changed and written under a lock.
struct PinFileEditing: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The pin file; - reads standard input and prints the changed file.", valueName: "pin file"),
        completion: .file(extensions: ["json"]))
    var path: String

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the changed file here, and leave the pin file as it is; - prints it.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var output: String?

    /// What `--force` overrides.
    enum Override: String, ExpressibleByArgument, CaseIterable {
        /// Clients would refuse a host at once.
        case refused
    }

    @Option(
        help: ArgumentHelp("Change the file even if clients would refuse a host at once (refused).", valueName: "name"))
    var force: [Override] = []

    @OptionGroup
    var printing: PrintOptions

    /// The file that is written; `-` for standard output.
    private var destination: String { output ?? path }

    /// What was done. Its fields are those of the JSON object.
    private struct Report: Encodable {
        let verdict: String
        let file: String
        let changes: [String]
        let warnings: [String]
        let overridden: [String]
    }

    static let exitCodes = """
        Exit codes: 0 changed, 1 the file is not a pin file, does not allow the change, or clients would refuse a host, 2 \
        wrong usage, 3 a file could not be read or written.

        With --json one object is printed: verdict, file, changes, warnings, overridden.
        """

    /// - Parameters:
    ///   - intended: risks that are what the verb was asked for, and which it warns of.
    ///   - change: changes the file.
    func run(
        intending intended: Set<PinFileRisk.Kind> = [],
        _ change: (inout PinFileEdit) throws(PublishingError) -> Void
    ) throws {
        let isInPlace = destination == path && path != InputFile.standard
        let file = destination == InputFile.standard ? nil : try LinkedFile.target(of: destination)
        let lock = try isInPlace ? file.map { url throws(CommandFailure) in try ChangeLock.on(url, for: path) } : nil
        defer { withExtendedLifetime(lock) {} }
        let data = try InputFile.content(of: path, maximumBytes: PinFileReading.maximumBytes)
        // Of a file without new content not even the layout changes.
        var edit = try PinFileEdit(data, named: path)
        try change(&edit)
        let risks = edit.risks(at: SystemWallClock().now)
        let fatal = risks.filter { $0.locksOut && !intended.contains($0.kind) }
        guard fatal.isEmpty || force.contains(.refused) else {
            throw CommandFailure(
                .notTrusted,
                "\(destination) is left as it is, because clients would be refused (--force refused does it nevertheless)\n"
                    + fatal.map { "  \(SafeText.escapedLine($0.text))" }.joined(separator: "\n"))
        }
        let isChanged = edit.file != edit.original
        let changed = isChanged ? try edit.data() : data
        if let file {
            if isChanged || !isInPlace { try WrittenFile.replace(file, with: changed, path: destination) }
        } else {
            Output.standard.printAsIs(String(decoding: changed, as: UTF8.self).trimmingCharacters(in: .newlines))
        }
        try tell(
            Report(
                verdict: !isChanged ? "Nothing changes in \(path)" : "Changed: \(destination)", file: destination,
                changes: edit.changes, warnings: risks.filter { !fatal.contains($0) }.map(\.text),
                overridden: fatal.map(\.text)))
    }

    /// Reports on standard error if standard output gets the file.
    private func tell(_ report: Report) throws {
        let output =
            destination == InputFile.standard ? Output(usesColor: false, isForErrors: true) : Output.standard
        try printing.print(report, to: output) { output in
            output.line(report.verdict, .good)
            for change in report.changes { output.line("  \(SafeText.escapedLine(change))") }
        }
        for line in report.overridden { output.complain("overridden: \(SafeText.escapedLine(line))") }
        for line in report.warnings { output.remark("warning: \(SafeText.escapedLine(line))") }
    }
}
