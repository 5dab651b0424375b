import ArgumentParser
import HoldfastOutput
import HoldfastPublishing

/// The findings that an operator overrides, for verbs that refuse to lock clients out.
struct HostOverrides: ParsableArguments {
    /// A finding that `--force` overrides.
    enum Override: String, ExpressibleByArgument, CaseIterable {
        /// Clients would be locked out of a host that was probed.
        case refused
        /// A host could not be probed at an address, so the answer is unknown.
        case unreachable
        /// No host is probed at all.
        case offline
    }

    @Option(
        help: ArgumentHelp(
            "Go on even if clients would be locked out (refused), if a host could not be asked (unreachable), or without "
                + "asking any (offline). Repeatable.", valueName: "name"))
    var force: [Override] = []

    /// What to do if nothing but the answer of a host, or of the operator, is missing.
    static let remedy =
        "try again when every host can be asked; a person must decide whether to go on without that (--force unreachable)"

    /// Whether no host is probed.
    var isOffline: Bool { force.contains(.offline) }

    /// Whether the verb continues in spite of findings of a kind. An end is only a warning.
    func isOverridden(_ kind: HostsOutlook.Finding.Kind) -> Bool {
        switch kind {
        case .refused: force.contains(.refused)
        case .unreachable: force.contains(.unreachable)
        case .ending: true
        }
    }

    /// Prints the findings, and which of them are overridden.
    /// - Parameter consequence: what is not done if a finding is open, such as `pins.json is left as it is`.
    /// - Throws: `NegativeAnswer` after all findings were printed, if a finding is open.
    func settle(_ findings: [HostsOutlook.Finding], else consequence: String) throws {
        var open: [HostsOutlook.Finding.Kind] = []
        for finding in findings {
            let isOverridden = isOverridden(finding.kind)
            if !isOverridden { open.append(finding.kind) }
            Output.standard.complain(
                "\(isOverridden ? "warning: " : "")\(finding.kind.rawValue): \(SafeText.escapedLine(finding.text))")
        }
        guard open.isEmpty else {
            Output.standard.complain(consequence)
            if !open.contains(.refused) { Output.standard.remark(Self.remedy) }
            throw NegativeAnswer(status: open.contains(.refused) ? .negativeAnswer : .couldNotFindOut)
        }
    }
}
