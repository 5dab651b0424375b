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
            Prints each difference in words. A host from which the difference may take clients is asked at every address, \
            and the outlook judges on each --platform whether they get in with the new file, as the verbs do that change \
            one. With --offline no host is asked, and the command says only what is certain whatever they show.

            EXAMPLES
              holdfastctl pins diff published.pins.json bank.pins.json
              git show HEAD:bank.pins.json | \\
                holdfastctl pins diff - bank.pins.json --offline

            Exit codes: 0 equal, or nobody is locked out by the difference, 1 clients would be refused, or a file is not a \
            pin file, 2 wrong usage, 3 a file could not be read or a host not be asked, so that nobody knows, 4 clients get \
            in, but only by grace or for a shorter time than with the old file.

            With --json one object is printed: verdict, old, new, isEqual, changes, lockedOut, warnings, findings (kind, \
            host, text, until), and if hosts were asked premises.
            """)

    @Argument(help: ArgumentHelp("The pin file that clients have.", valueName: "old pin file"), completion: .file())
    var old: String

    @Argument(help: ArgumentHelp("The pin file that they get.", valueName: "new pin file"), completion: .file())
    var new: String

    @OptionGroup
    var offline: OfflineOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private struct Report: Encodable {
        let verdict: String
        let old: String
        let new: String
        let isEqual: Bool
        let changes: [String]
        let lockedOut: [String]
        let warnings: [String]
        let findings: [HostsOutlook.Finding]
        let premises: [String]?
    }

    func run() async throws {
        let files = try [old, new].map { path in
            try PinFileReading.document(
                try InputFile.content(of: path, maximumBytes: PinFileReading.maximumBytes), named: path)
        }
        let comparison = PinFileComparison(from: files[0], to: files[1])
        let (findings, asked) = try await findings(from: files[0].file, to: files[1].file)
        let isNew = findings.contains { $0.kind == .refused && asked?.standing.contains($0) != true }
        let verdict =
            isNew
            ? "CLIENTS WOULD BE REFUSED"
            : findings.headline
                ?? (comparison.changes.isEmpty ? "No difference" : "Nobody is locked out by the difference")
        let report = Report(
            verdict: verdict, old: old, new: new, isEqual: comparison.changes.isEmpty, changes: comparison.changes,
            lockedOut: findings.filter { $0.kind == .refused }.map(\.text), warnings: comparison.shortages,
            findings: findings, premises: asked?.premises)
        for remark in asked?.remarks ?? [] { Output.standard.remark(remark) }
        let output = Output.standard
        if printing.json {
            try output.json(report)
        } else if !printing.quiet || !findings.isEmpty {
            output.line(SafeText.escapedLine(verdict), findings.isEmpty ? .good : .bad)
            for finding in findings {
                output.line("  \(finding.kind.rawValue): \(SafeText.escapedLine(finding.text))", .bad)
            }
            if !report.changes.isEmpty { output.heading("What changes") }
            for line in report.changes { output.line("  \(SafeText.escapedLine(line))") }
            for premise in report.premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
            for line in report.warnings { output.remark("warning: \(SafeText.escapedLine(line))") }
        }
        if let status = findings.status { throw NegativeAnswer(status: status) }
    }

    /// The problems of clients that get the new file, and the probed change; nil if no host was to be probed.
    private func findings(
        from old: PinFile, to new: PinFile
    ) async throws(CommandFailure) -> (all: [HostsOutlook.Finding], asked: AskedChange?) {
        let now = SystemWallClock().now
        let change = try CommandFailure.rethrowing { () throws(PublishingError) in
            try PinFileChange(from: old, to: new, named: self.new, at: now)
        }
        let certain = change.findings()
        guard !change.isSettledUnseen else { return (certain, nil) }
        guard !offline.offline else {
            let names = change.hosts.map(\.description) + change.patterns.map(\.description)
            let words = "no host was asked, and it depends on what they show: \(names.joined(separator: ", "))"
            return (certain + [.init(kind: .unreachable, host: nil, text: words)], nil)
        }
        let asked = try await AskedChange(change, on: platforms, by: connection, at: now)
        return (certain + asked.objections + asked.standing, asked)
    }
}
