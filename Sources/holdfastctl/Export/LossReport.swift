import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// Reports on standard error the data that the other format cannot express.
struct LossReport {
    let losses: [PinExport.Loss]
    let notes: [PinExport.Loss]

    /// - Throws: if something would be lost and that is not allowed.
    func say(isAllowed: Bool) throws(CommandFailure) {
        for note in notes { Output.standard.remark("note: \(SafeText.escapedLine(note.text))") }
        guard !losses.isEmpty else { return }
        let lines = losses.map { SafeText.escapedLine($0.text) }
        guard isAllowed else {
            throw CommandFailure(
                .notTrusted,
                "a pin file or the other format cannot express this: with --lossy it is left out\n"
                    + lines.map { "  \($0)" }.joined(separator: "\n"))
        }
        for line in lines { Output.standard.remark("lost: \(line)") }
    }

    /// Names the placeholders among the pins of a file, and the hosts without a backup.
    static func warn(of file: PinFile) {
        for placeholder in file.placeholders {
            Output.standard.remark("warning: \(SafeText.escapedLine(placeholder.text))")
        }
        for host in file.hostsWithoutUsableBackup { warn(ofNoBackupFor: host.description) }
    }

    /// Warns of reports to hosts that the file itself pins.
    static func warn(ofReportsOf file: PinFile) {
        for report in file.coveredReports { Output.standard.remark("warning: \(report.text)") }
    }

    /// - Parameter subject: a host, or the files that contain the pins.
    static func warn(ofNoBackupFor subject: String) {
        Output.standard.remark(
            "warning: \(SafeText.escapedLine(subject)) has no backup pin: unless another pinned key is kept in reserve, "
                + "every client is locked out when the key is lost"
        )
    }
}

/// The written file. Its fields are those of the JSON object.
struct WrittenReport: Encodable {
    struct Loss: Encodable {
        let field: String
        let what: String
    }

    let file: String
    let hosts: Int
    let losses: [Loss]
    let notes: [Loss]
    let hostsWithoutBackup: [String]
    /// Problems of clients of other versions; absent if no host was probed.
    var findings: [HostsOutlook.Finding]?
    /// The premises of the answer about the hosts; absent if no host was probed.
    var premises: [String]?

    init(file: String, hosts: Int, losses: [PinExport.Loss], notes: [PinExport.Loss], without: [HostPattern]) {
        self.file = file
        self.hosts = hosts
        self.losses = losses.map { Loss(field: $0.field, what: $0.what) }
        self.notes = notes.map { Loss(field: $0.field, what: $0.what) }
        hostsWithoutBackup = without.map(\.description)
    }
}

extension PinExport {
    /// Writes the text, and reports on standard error the lost data and the hosts without a backup.
    /// - Parameters:
    ///   - isLossy: whether something may be left out.
    ///   - isNoting: whether losses without any effect on clients are reported as well.
    ///   - output: the destination.
    func write(isFragment: Bool, isLossy: Bool, isNoting: Bool, to output: DocumentOutput) throws {
        let text = try text(isFragment: isFragment)
        try LossReport(losses: losses, notes: isNoting ? notes : []).say(isAllowed: isLossy)
        guard !isEmpty else { throw CommandFailure(.notTrusted, "\(format.reader) can express nothing of it") }
        LossReport.warn(of: file)
        LossReport.warn(ofReportsOf: file)
        for warning in warnings { Output.standard.remark("warning: \(warning)") }
        try output.write(text)
    }
}
