import HoldfastOutput
import HoldfastPublishing

extension CheckReport {
    /// A copy that reports why the host could not be checked.
    func failing(_ failure: CommandFailure) -> CheckReport { failing(failure.code.rawValue, failure.message) }

    /// The addresses at which the chain was presented, as text.
    private var seenAt: String? {
        if let addresses { "at \(addresses.joined(separator: ", "))" } else { address.map { "at \($0)" } }
    }

    func print(to output: Output) {
        let details = [seenAt, proxy.map { "through the proxy \($0)" }, tls].compactMap(\.self)
            .joined(separator: ", ")
        output.line(.init(server, .heading), .init(details.isEmpty ? "" : " \(details)"))
        printVerdict(to: output)
        for text in coveredReports ?? [] { output.line("Warning: \(SafeText.escapedLine(text))", .bad) }
        if asksForClientCertificate == true {
            output.line("The server asks for the client's certificate: --client-cert")
        }
        output.line()
        output.heading("Chain as presented")
        for certificate in chain ?? [] { certificate.print(to: output) }
        anchor?.print(to: output)
        if chain?.isEmpty ?? true { output.line("  none") }
        for remark in remarks ?? [] { output.line("  Remark: \(remark)", .bad) }
        printRules(to: output)
        printRevocationLists(to: output)
        printPins(to: output)
    }

    private func printRevocationLists(to output: Output) {
        guard let revocationLists else { return }
        output.line()
        output.heading("Revocation lists")
        for place in revocationLists {
            output.line("  \(SafeText.escapedLine(place.text))", place.isUsable ? .good : .bad)
        }
        if revocationLists.isEmpty { output.line("  no certificate of a path names one") }
    }

    private func printRules(to output: Output) {
        guard let rules, !rules.isEmpty else { return }
        output.line()
        output.heading("Rules")
        var subject: String?
        var position: Int??
        for rule in rules {
            if subject != rule.subject || position != .some(rule.position) {
                output.line("  \((rule.position.map { "\($0)" } ?? "-").padded(to: 3))\(rule.subject)")
                (subject, position) = (rule.subject, rule.position)
            }
            let facts = rule.kept ? "" : ": expected \(rule.expected ?? ""), found \(rule.found ?? "")"
            output.line(
                .init("     "), .init((rule.kept ? "ok" : "BROKEN").padded(to: 8), rule.kept ? .good : .bad),
                .init(rule.reference.padded(to: 21), .faint), .init(rule.rule + facts))
        }
    }

    private func printVerdict(to output: Output) {
        if let published, published.isLockedOut, failure == nil {
            output.line(.init("Locked out", .bad), .init(": \(SafeText.escapedLine(published.text))"))
        } else if let failure {
            output.line("Not trusted", .bad)
            for line in failure.text.split(separator: "\n") { output.line("  \(line)") }
        } else if let published, outcome == .unknown {
            output.line(.init("Unknown", .bad), .init(": \(SafeText.escapedLine(published.text))"))
        } else if let published {
            // The end of the pins with which clients connect.
            let end = published.until.map { "until \(LocalTime.text(ofField: $0)), if nothing changes" }
            output.line(
                .init("Installed apps can connect", .good), .init(": \(end ?? "nothing ends within 400 days")."))
            output.line("  Trusted: \(reason)")
            printRenewal(to: output)
        } else {
            output.line(.init("Trusted", .good), .init(": \(reason)"))
        }
        if let publishedVersions {
            for version in publishedVersions {
                let remaining = version.remaining.map { " (\($0))" } ?? ""
                output.line("  \(SafeText.escapedLine(version.text))\(remaining)")
            }
        } else if let published {
            if failure != nil || !published.isLockedOut && outcome != .unknown {
                output.line("  \(SafeText.escapedLine(published.text))")
            }
            if let remaining = published.remaining { output.line("  \(remaining)") }
        }
        for premise in premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
        for line in issuerPinLines {
            output.line("  \(SafeText.escapedLine(line))", isIssuerPinningIncomplete ? .bad : .good)
        }
        guard !(expiring ?? []).isEmpty || published?.expiresSoon == true else { return }
        output.line()
        output.line("Expires too soon", .bad)
        if let published, published.expiresSoon, let remaining = published.remaining {
            output.line("  the published pins: \(remaining)")
        }
        for certificate in expiring ?? [] { output.line("  \(SafeText.escapedLine(certificate.text))") }
    }

    /// Prints the effect of a certificate renewal on installed apps.
    private func printRenewal(to output: Output) {
        guard let renewal else { return }
        guard renewal.getsIn else { return output.line("  \(unpinnedRenewal) Ask gate before you install it.") }
        let end = renewal.end.map { " until \(LocalTime.text($0))" } ?? ""
        output.line(
            "  If the certificate is renewed with the same key, they can connect\(end). "
                + "With another key, only if it is pinned: ask gate before you install it.")
    }

    /// Why apps may refuse a certificate that is renewed with the same key.
    private var unpinnedRenewal: String {
        let isPinned = chain?.first?.keyPin.map { own in configuredPins.contains { $0.utf8.elementsEqual(own.utf8) } }
        let reason =
            if isPinned == true {
                "besides its key, they require a pin of its issuer"
            } else if (matchedPins ?? []).contains(where: { $0.hasPrefix("cert-") }) {
                "the certificate is pinned, and not its key"
            } else {
                "its own key is not pinned, so that they depend on which issuer signs it"
            }
        return "If the certificate is renewed, even with the same key, apps may be locked out: \(reason)."
    }

    private var reason: String {
        let name = "the chain is valid for \(host)"
        guard let matchedPins, !matchedPins.isEmpty else { return "\(name)." }
        return "\(name) and holds \(matchedPins.joined(separator: ", "))."
    }

    private func printPins(to output: Output) {
        guard let suggestedPins, !suggestedPins.isEmpty else { return }
        output.line()
        if suggestedPins.allSatisfy(\.inValidPath) {
            output.heading("Pins of the valid path, ready to paste (the first is the server's own key)")
        } else {
            output.heading("Pins of the chain as presented")
            output.line("  The chain is not valid: make sure in another way whose keys these are.", .bad)
        }
        for pin in suggestedPins {
            output.line(.init("  \(pin.pin)  "), .init(pin.subject, .faint))
        }
        output.line(
            "Add the pin of a backup key that is kept elsewhere: holdfastctl keygen --tls \(SafeText.shellWord(host)) -o "
                + "backup.key", .faint)
    }
}
