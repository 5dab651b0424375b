import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// Asks the hosts that a change of pins concerns, and the outlook what it means for every client.
struct AskedChange {
    /// What speaks against the change.
    let objections: [HostsOutlook.Finding]
    /// What is so whether the change is made or not.
    let standing: [HostsOutlook.Finding]
    /// What the answer rests on; nil if no host was asked.
    let premises: [String]?
    /// What could not be asked and why that may not matter, a sentence each.
    let remarks: [String]
}

extension AskedChange {
    /// Asks the hosts of pins.
    init(
        _ subject: ChangeOutlook.Subject, atHostsOf pins: [PublishedPins], on platforms: PlatformOptions,
        by connection: ConnectionOptions, at now: Date
    ) async throws(CommandFailure) {
        let (hosts, undialed) = AskedHosts.hosts(of: pins)
        guard !hosts.isEmpty else {
            // Pins for no host at all harm nobody who gets them.
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
    ///   - hosts: those that the change concerns, with what they showed.
    ///   - remarks: what could not be asked.
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

/// What there is to say after a change that nothing speaks against, or that was forced.
struct SettledChange {
    /// What is so whether the change is made or not, and was not overridden.
    let open: [HostsOutlook.Finding]
    /// What the answer rests on; nil if no host was asked.
    let premises: [String]?

    /// The exit code with which the verb ends when it has made the change; nil if every client gets in.
    var status: CommandFailure.Status? { open.status }

    /// Says what is open on standard error, and ends the verb with the exit code that it stands for.
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

    /// The exit code for all of them; nil if there are none.
    var status: CommandFailure.Status? {
        if first(.refused) != nil { return .negativeAnswer }
        if first(.unreachable) != nil { return .couldNotFindOut }
        return first(.ending) == nil ? nil : .endsSoon
    }

    /// The worst of them, as the first line of an answer; nil if there are none.
    var headline: String? {
        if let refused = first(.refused) { return "CLIENTS ARE LOCKED OUT: \(refused.text)" }
        if let open = first(.unreachable) { return "Nobody knows whether clients get in: \(open.text)" }
        return first(.ending).map { "Ends too soon: \($0.text)" }
    }

    /// Prints the worst of them, so that it stands first.
    func printHeadline(to output: Output) {
        if let headline { output.line(SafeText.escapedLine(headline), .bad) }
    }
}

extension HostOverrides {
    /// Says what a change means for clients, and what of it is overridden.
    /// - Parameter consequence: what is not done if something speaks against the change.
    /// - Throws: `NegativeAnswer` after everything was said, if something that is not overridden speaks against it.
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
