import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// Probes the hosts that a change of pins concerns, and computes its effect on every client.
struct AskedChange {
    /// The reasons not to make the change.
    let objections: [HostsOutlook.Finding]
    /// The findings that are the same with and without the change.
    let standing: [HostsOutlook.Finding]
    /// The premises of the answer; nil if no host was probed.
    let premises: [String]?
    /// Hosts and addresses that could not be probed and why that may not matter, one sentence each.
    let remarks: [String]
}

extension AskedChange {
    /// Probes the hosts of pins.
    init(
        _ subject: ChangeOutlook.Subject, atHostsOf pins: [PublishedPins], on platforms: PlatformOptions,
        by connection: ConnectionOptions, at now: Date
    ) async throws(CommandFailure) {
        let (hosts, undialed) = AskedHosts.hosts(of: pins)
        guard !hosts.isEmpty else {
            // Pins for no host at all cannot lock out a client.
            let words = "no host can be asked, since they are patterns: \(undialed)"
            self.init(
                objections: undialed.isEmpty ? [] : [.init(kind: .unreachable, host: nil, text: words)], standing: [],
                premises: nil, remarks: [])
            return
        }
        let shown = try await AskedHosts.shown(by: hosts, connection, at: now)
        let open = undialed.isEmpty ? [] : ["not asked, since they name no host: \(undialed)"]
        try await self.init(subject, at: shown.hosts, on: platforms, by: connection, remarks: open + shown.remarks)
    }

    /// - Parameters:
    ///   - hosts: those that the change concerns, with the chains that they presented.
    ///   - remarks: the hosts that could not be probed.
    init(
        _ subject: ChangeOutlook.Subject, at hosts: [PublicationOutlook.Host], on platforms: PlatformOptions,
        by connection: ConnectionOptions, remarks: [String] = []
    ) async throws(CommandFailure) {
        let platforms = try platforms.platforms(
            try await connection.anchors(), named: connection.ca ?? "this machine's anchors")
        let outlook = try CommandFailure.rethrowing { () throws(PublishingError) in
            try ChangeOutlook(of: subject, at: hosts, platforms: platforms, at: SystemWallClock().now)
        }
        self.init(
            objections: outlook.objections, standing: outlook.standing, premises: outlook.after.premises,
            remarks: remarks + (subject.appVersions == .unknown ? [ShippedPinOptions.remedy] : []))
    }
}

/// The remarks after a change without objections, or after a forced one.
struct SettledChange {
    /// The findings that are the same with and without the change, and were not overridden.
    let open: [HostsOutlook.Finding]
    /// The premises of the answer; nil if no host was probed.
    let premises: [String]?

    /// The exit code of the verb after it made the change; nil if every client can connect.
    var status: CommandFailure.Status? { open.status }

    /// Prints the open findings on standard error, and ends the verb with their exit code.
    /// - Throws: `NegativeAnswer` if anything is open.
    func finish() throws {
        for finding in open {
            let kind = finding.kind == .ending ? "only by grace" : "\(finding.kind.rawValue), as before"
            Output.standard.complain("\(kind): \(SafeText.escapedLine(finding.text))")
        }
        if let status { throw NegativeAnswer(status: status) }
    }
}

extension [HostsOutlook.Finding] {
    private func first(_ kind: HostsOutlook.Finding.Kind) -> HostsOutlook.Finding? { first { $0.kind == kind } }

    /// The exit code for all findings; nil if the list is empty.
    var status: CommandFailure.Status? {
        if first(.refused) != nil { return .negativeAnswer }
        if first(.unreachable) != nil { return .couldNotFindOut }
        return first(.ending) == nil ? nil : .endsSoon
    }

    /// The worst finding, as the first line of an answer; nil if the list is empty.
    var headline: String? {
        if let refused = first(.refused) { return "CLIENTS ARE LOCKED OUT: \(refused.text)" }
        if let open = first(.unreachable) { return "Nobody knows whether clients get in: \(open.text)" }
        return first(.ending).map { "Ends too soon: \($0.text)" }
    }

    /// Prints the worst finding, so that it comes first.
    func printHeadline(to output: Output) {
        if let headline { output.line(SafeText.escapedLine(headline), .bad) }
    }
}

extension HostOverrides {
    /// Prints the effect of a change on clients, and which findings are overridden.
    /// - Parameter consequence: what is not done if there is an objection to the change.
    /// - Throws: `NegativeAnswer` after all findings were printed, if one of them is not overridden.
    func settle(_ asked: AskedChange, else consequence: String) throws -> SettledChange {
        for remark in asked.remarks { Output.standard.remark(remark) }
        try settle(asked.objections, else: consequence)
        let open = asked.standing.filter { !isOverridden($0.kind) || $0.kind == .ending }
        for finding in asked.standing where !open.contains(finding) {
            Output.standard.complain("warning: \(finding.kind.rawValue): \(SafeText.escapedLine(finding.text))")
        }
        return SettledChange(open: open, premises: asked.premises)
    }
}
