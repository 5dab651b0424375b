import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The pin file that a verb changes, and its options. The file is read, evaluated, changed and written under a lock.
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

    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup
    var printing: PrintOptions

    /// The file that is written; `-` for standard output.
    private var destination: String { output ?? path }

    /// The result. Its fields are those of the JSON object.
    private struct Report: Encodable {
        let verdict: String
        let file: String
        let changes: [String]
        let warnings: [String]
        let overridden: [String]
        let findings: [HostsOutlook.Finding]?
        let premises: [String]?
    }

    static let asking = """
        If the change may take a host from clients, it is asked at every address, and the outlook judges on each \
        --platform whether clients get in with the changed file. A change that adds a pin to an entry, or changes what a key \
        is called, takes nothing, and nobody is asked. The file stays as it is if clients would be locked out (--force \
        refused), or if a host could not be asked, so that nobody knows (--force unreachable; --force offline asks no host).
        """

    static let exitCodes = """
        Exit codes: 0 changed, and clients get in as before, 1 the file is not a pin file, does not allow the change, or \
        clients would refuse a host; or it was changed, and clients that have not got it yet are locked out, 2 wrong usage, \
        3 a file could not be read or written, or a host not be asked, 4 changed, but clients get in only by grace.

        With --json one object is printed: verdict, file, changes, warnings, overridden, and if hosts were asked findings \
        (kind, host, text, until), premises.
        """

    /// The evaluation of a change.
    private struct Judged {
        let settled: SettledChange?
        let warnings: [String]
        let overridden: [String]
    }

    /// - Parameters:
    ///   - intended: an entry that the verb was asked to remove. That clients then refuse its hosts is reported, but is
    ///     no objection.
    ///   - connection: how to reach the hosts.
    ///   - change: changes the file.
    func run(
        losing intended: HostPattern? = nil, by connection: ConnectionOptions,
        _ change: (inout PinFileEdit) throws(PublishingError) -> Void
    ) async throws {
        let now = SystemWallClock().now
        let isInPlace = destination == path && path != InputFile.standard
        let file = destination == InputFile.standard ? nil : try LinkedFile.target(of: destination)
        var data = try content()
        // Without new content, even the layout of a file stays.
        var edit = try PinFileEdit(data, named: path)
        try change(&edit)
        let judged = try await judge(edit, losing: intended, by: connection, at: now)
        let lock = try isInPlace ? file.map { url throws(CommandFailure) in try ChangeLock.on(url, for: path) } : nil
        defer { withExtendedLifetime(lock) {} }
        if isInPlace, case let newest = try content(), newest != data {
            (data, edit) = (newest, try PinFileEdit(newest, named: path))
            try change(&edit)
            guard try PinFileChange(from: edit.original, to: edit.file, named: path, at: now).takesNothing else {
                throw CommandFailure(
                    .unwritableFile, "\(path) is left as it is: somebody changed it meanwhile; give the command again")
            }
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
                changes: edit.changes, warnings: judged.warnings + edit.shortages, overridden: judged.overridden,
                findings: judged.settled?.open, premises: judged.settled?.premises))
        try judged.settled?.finish()
    }

    private func content() throws(CommandFailure) -> Data {
        try InputFile.content(of: path, maximumBytes: PinFileReading.maximumBytes)
    }

    /// Evaluates the effect of the change on clients: first without probing hosts.
    /// - Throws: `NegativeAnswer` after all findings were printed, if the change must not be made.
    private func judge(
        _ edit: PinFileEdit, losing intended: HostPattern?, by connection: ConnectionOptions, at now: Date
    ) async throws -> Judged {
        let change = try CommandFailure.rethrowing { () throws(PublishingError) in
            try PinFileChange(from: edit.original, to: edit.file, named: path, at: now)
        }
        let consequence = "\(destination) is left as it is"
        let lost = change.findings(except: intended)
        try overrides.settle(lost, else: consequence)
        let warnings = change.losses.filter { $0.pattern == intended }.map(\.text)
        guard !change.isSettledUnseen else {
            return Judged(settled: nil, warnings: warnings, overridden: lost.map(\.text))
        }
        guard !overrides.isOffline else {
            Output.standard.remark("warning: offline: no host was asked whether clients get in")
            return Judged(settled: nil, warnings: warnings, overridden: lost.map(\.text))
        }
        let asked = try await AskedChange(change, on: platforms, by: connection, at: now)
        let settled = try overrides.settle(asked, else: consequence)
        let forced = asked.objections.filter { $0.kind != .ending }
        return Judged(settled: settled, warnings: warnings, overridden: (lost + forced).map(\.text))
    }

    /// Reports on standard error if standard output gets the file.
    private func tell(_ report: Report) throws {
        let output =
            destination == InputFile.standard ? Output(usesColor: false, isForErrors: true) : Output.standard
        try printing.print(report, to: output) { output in
            report.findings?.printHeadline(to: output)
            output.line(report.verdict, .good)
            for change in report.changes { output.line("  \(SafeText.escapedLine(change))") }
            for premise in report.premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
        }
        for line in report.warnings { output.remark("warning: \(SafeText.escapedLine(line))") }
    }
}

extension AskedChange {
    /// Probes the hosts that a change of a pin file concerns.
    init(
        _ change: PinFileChange, on platforms: PlatformOptions, by connection: ConnectionOptions, at now: Date
    ) async throws(CommandFailure) {
        let open = change.patterns.map { pattern in
            HostsOutlook.Finding(
                kind: .unreachable, host: nil, text: "no host of \(pattern) can be asked, since it is a pattern")
        }
        guard !change.hosts.isEmpty else {
            self.init(objections: open, standing: [], premises: nil, remarks: [])
            return
        }
        let shown = try await AskedHosts.shown(by: change.hosts, connection, at: now)
        let asked = try await AskedChange(
            change.subject, at: shown.hosts, on: platforms, by: connection, remarks: shown.remarks)
        self.init(
            objections: open + asked.objections, standing: asked.standing, premises: asked.premises,
            remarks: asked.remarks)
    }
}

extension PinFileChange {
    /// Whether no chain of a host affects the answer about the change.
    var isSettledUnseen: Bool { hosts.isEmpty && patterns.isEmpty }

    /// The certain losses of clients.
    /// - Parameter intended: an entry that is removed on purpose.
    func findings(except intended: HostPattern? = nil) -> [HostsOutlook.Finding] {
        losses.filter { $0.pattern != intended }.map {
            HostsOutlook.Finding(kind: .refused, host: $0.pattern.description, text: $0.text)
        }
    }
}
