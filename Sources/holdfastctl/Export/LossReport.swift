import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// Reports on standard error what the other format cannot express.
struct LossReport {
    let losses: [PinExport.Loss]
    let notes: [PinExport.Loss]

    /// - Throws: if something would be lost and that is not allowed.
    func say(isAllowed: Bool) throws(CommandFailure) {
        for note in notes { Output.standard.complain("note: \(note.text)") }
        guard !losses.isEmpty else { return }
        let lines = losses.map(\.text)
        guard isAllowed else {
            throw CommandFailure(
                .notTrusted,
                "this cannot be said: with --lossy it is left out\n" + lines.map { "  \($0)" }.joined(separator: "\n"))
        }
        for line in lines { Output.standard.complain("lost: \(line)") }
    }

    static func warn(of hosts: [HostPattern]) {
        for host in hosts { warn(ofNoBackupFor: host.description) }
    }

    /// - Parameter subject: a host, or the files from which the pins are.
    static func warn(ofNoBackupFor subject: String) {
        Output.standard.complain(
            "warning: \(SafeText.escapedLine(subject)) has no backup pin: unless another pinned key is kept in reserve, "
                + "every client is locked out when the key is lost"
        )
    }
}

extension PinExport {
    /// Prints the text; and on standard error what it cannot express, and which hosts have no backup.
    /// - Parameters:
    ///   - isLossy: whether something may be left out.
    ///   - isNoting: whether losses without any effect on clients are reported as well.
    func print(isFragment: Bool, isLossy: Bool, isNoting: Bool) throws {
        let text = try text(isFragment: isFragment)
        try LossReport(losses: losses, notes: isNoting ? notes : []).say(isAllowed: isLossy)
        guard !isEmpty else { throw CommandFailure(.notTrusted, "\(format.reader) can express nothing of it") }
        LossReport.warn(of: file.hostsWithoutBackup)
        for warning in warnings { Output.standard.complain("warning: \(warning)") }
        Output.standard.printAsIs(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }
}
