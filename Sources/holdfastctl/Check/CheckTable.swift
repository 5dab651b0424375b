import HoldfastOutput
import HoldfastPublishing

/// The table that `check` prints for several hosts: one line per host, and the totals.
struct CheckTable {
    let reports: [CheckReport]

    /// Prints only one line per host.
    func printBriefly(to output: Output) {
        let width = reports.map(\.place.count).reduce(4, max) + 2
        for report in reports { Self.print(report, width: width, to: output) }
    }

    private static func print(_ report: CheckReport, width: Int, to output: Output) {
        let verdict = verdict(report)
        output.line(
            .init(report.place.padded(to: width)), .init(verdict.text.padded(to: 13), verdict.style),
            .init((report.daysLeft.map(String.init) ?? "").padded(to: 11)), .init(report.shortReason))
    }

    func print(to output: Output) {
        printCounts(to: output)
        printAccess(to: output)
        output.line()
        let width = reports.map(\.place.count).reduce(4, max) + 2
        output.heading("host".padded(to: width) + "verdict".padded(to: 13) + "days left".padded(to: 11) + "reason")
        for report in reports { Self.print(report, width: width, to: output) }
        // All hosts of one evaluation have the same premises.
        guard let premises = reports.lazy.compactMap(\.premises).first else { return }
        output.line()
        for premise in premises { output.line(SafeText.escapedLine(premise), .faint) }
    }

    private func printCounts(to output: Output) {
        let kinds = ["trusted", "expires soon", "locked out", "not trusted", "unknown"]
        let counts = kinds.compactMap { kind in
            let count = reports.count { Self.verdict($0).text == kind }
            return count > 0 ? "\(count) \(kind)" : nil
        }
        let hosts = Set(reports.map(\.server)).count
        let isPlain = !reports.contains(where: \.isOneOfMany)
        let places = isPlain ? "\(reports.count) hosts" : "\(hosts) hosts, \(reports.count) certificates"
        output.line(
            "\(hosts == 1 && !isPlain ? places.replacing("hosts", with: "host") : places): \(counts.joined(separator: ", "))"
        )
    }

    /// Prints until when installed apps can connect to all hosts, and the effect of a renewal with the same keys.
    private func printAccess(to output: Output) {
        let verdicts = reports.compactMap(\.published)
        guard verdicts.count == reports.count, reports.allSatisfy({ $0.outcome == .trusted }) else { return }
        let first = verdicts.compactMap(\.until).min()
        let end = first.map { "until \(LocalTime.text(ofField: $0)), if nothing changes" }
        output.line(
            .init("Installed apps can connect", .good), .init(": \(end ?? "nothing ends within 400 days")."))
        let renewals = reports.compactMap(\.renewal)
        let refused = reports.filter { $0.renewal?.getsIn != true }.map(\.place)
        guard refused.isEmpty else {
            return output.line(
                "  If certificates are renewed, even with the same keys, apps may be locked out of "
                    + "\(refused.prefix(5).joined(separator: ", "))\(refused.count > 5 ? " and others" : ""): ask gate before "
                    + "you install them.")
        }
        let last = renewals.compactMap(\.end).min().map { " until \(LocalTime.text($0))" } ?? ""
        output.line(
            "  If the certificates are renewed with the same keys, they can connect\(last). With other keys, only if those "
                + "are pinned: ask gate before you install them.")
    }

    private static func verdict(_ report: CheckReport) -> Output.Piece {
        switch report.outcome {
        case .trusted where report.expiresSoon: .init("expires soon", .bad)
        case .trusted: .init("trusted", .good)
        case .untrusted where report.failure == nil: .init("locked out", .bad)
        case .untrusted: .init("not trusted", .bad)
        case .unknown: .init("unknown", .bad)
        }
    }
}

extension CheckReport {
    /// The host with its port.
    var server: String { ServerAddress.text(host, port: port ?? ServerAddress.defaultPort) }

    private var shortAddress: String? {
        let others = addresses.map { " and \($0.count - 1) more" } ?? ""
        return address.map { "at \($0)\(others)" }
    }

    /// The host, with the address and the kind of key if there is more than one.
    var place: String {
        guard isOneOfMany else { return server }
        return [server, shortAddress, chain?.first?.key].compactMap(\.self).joined(separator: " ")
    }

    /// Whole days until the first certificate of the valid path ends; without a valid path, of all presented ones.
    var daysLeft: Int? {
        let all = (chain ?? []) + (anchor.map { [$0] } ?? [])
        let path = all.filter { $0.inValidPath == true }
        return (path.isEmpty ? all : path).compactMap(\.daysLeft).min()
    }

    /// One line with the reason.
    fileprivate var shortReason: String {
        if let error { return error.code }
        let issuers = issuerPinLines.first.map { SafeText.escapedLine($0) }
        if issuerPins?.isKnown == false, outcome == .unknown,
            published?.verdict == PublicationOutlook.Verdict.in.rawValue
        {
            return issuers ?? ""
        }
        if let published, outcome == .unknown { return SafeText.escapedLine(published.text) }
        if let failure {
            return SafeText.escapedLine("\(failure.code): expected \(failure.expected), found \(failure.found)")
        }
        if let first = expiring?.first {
            let rest = (expiring?.count ?? 1) - 1
            return SafeText.escapedLine(first.text + (rest > 0 ? " and \(rest) more" : ""))
        }
        if isIssuerPinningIncomplete, published?.expiresSoon == false { return issuers ?? "" }
        if let published {
            let remaining = published.remaining.map { " (\($0))" } ?? ""
            return SafeText.escapedLine(published.text + remaining)
        }
        guard let matchedPins, !matchedPins.isEmpty else { return "the chain is valid" }
        return "the chain is valid and holds \(matchedPins.joined(separator: ", "))"
    }
}
