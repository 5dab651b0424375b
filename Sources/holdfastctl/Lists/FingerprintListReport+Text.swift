import Holdfast
import HoldfastOutput
import HoldfastPublishing

extension FingerprintListReport {
    func print(to output: Output) {
        let width = min(60, entries.map(\.name.count).max() ?? 0)
        for entry in entries {
            let isSoon = isSoon(entry)
            let depth = entry.depth.map { "  depth \($0)" } ?? ""
            output.line(
                .init(entry.state.rawValue.padded(to: 9), entry.state != .valid || isSoon ? .bad : .good),
                .init(SafeText.escapedLine(entry.name).padded(to: width)), .init("  "),
                .init(entry.remaining.padded(to: 22), isSoon ? .bad : .plain),
                .init("  \(LocalTime.text(ofField: entry.expiryDate))  "),
                .init(entry.certificatePin + depth, .faint))
        }
    }

    /// Prints warnings for the operator on standard error.
    func warn(_ output: Output) {
        Self.warn(ofNamesWithoutBackup: namesWithoutBackup, output)
        for entry in entries where entry.expiresTooLate {
            output.remark(
                "warning: an entry of \(SafeText.escapedLine(entry.name)) expires after the year 9999: are its seconds "
                    + "milliseconds? Until then clients trust the certificate")
        }
        for entry in entries {
            guard let problem = entry.problem else { continue }
            output.remark(
                "warning: no client asks for \(SafeText.escapedLine(entry.name)): \(SafeText.escapedLine(problem)). Sign "
                    + "the certificate for that name")
        }
        if unsignedDomainsConfig {
            output.remark("warning: domainsConfig of a list is not signed, and clients of Holdfast do not follow it")
        }
    }

    static func warn(ofNamesWithoutBackup names: [String], _ output: Output) {
        for name in names {
            output.remark(
                "warning: \(SafeText.escapedLine(name)) has one fingerprint and no backup: when that certificate must be "
                    + "replaced at once, clients lose the host. Sign the certificate that will follow it as well.")
        }
    }
}
