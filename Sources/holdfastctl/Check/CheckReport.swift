import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe

/// Everything that `check` found out. Its fields are those of the JSON object.
struct CheckReport: Encodable {
    enum Outcome: String, Encodable {
        case trusted, untrusted
        /// Nothing could be found out; `error` says why.
        case unknown
    }

    struct Rule: Encodable {
        let rule: String
        let reference: String
        let subject: String
        let position: Int?
        let kept: Bool
        var expected: String?
        var found: String?
    }

    struct SuggestedPin: Encodable {
        let pin: String
        let subject: String
        let inValidPath: Bool
    }

    struct Failure: Encodable {
        let code: String
        let expected: String
        let found: String
        let remedy: String
        /// The whole failure, as an app would log it.
        let text: String

        init(_ failure: TrustFailure) {
            code = failure.code.rawValue
            expected = failure.expected
            found = failure.found
            remedy = failure.remedy
            text = failure.description
        }
    }

    struct Failing: Encodable {
        let code: String
        let message: String
    }

    var outcome = Outcome.unknown
    let host: String
    let port: Int?
    /// The address that was asked, with its port; the first of them if several showed the same.
    var address: String?
    /// All addresses that showed the same; absent if there is only one.
    var addresses: [String]?
    /// The address of the proxy, if one was used.
    var proxy: String?
    var tls: String?
    /// Whether a trusted server asked for the client's certificate; absent if that is not known.
    var asksForClientCertificate: Bool?
    /// The time of the decision, in ISO 8601.
    var time: String
    var chain: [CertificateReport]?
    /// The anchor of the valid path, if the server did not send it.
    var anchor: CertificateReport?
    var rules: [Rule]?
    var configuredPins: [String]
    var matchedPins: [String]?
    var suggestedPins: [SuggestedPin]?
    /// The certificates that end too soon; absent without --watch.
    var expiring: [ExpiryWatch.Expiring]?
    /// Where revocation lists were looked for; absent without --revocation.
    var revocationLists: [RevocationLookup.Place]?
    /// What the published pins mean for this server, of several versions the worst; absent without published pins.
    var published: PublishedVerdict?
    /// What each version means; absent unless there are several.
    var publishedVersions: [PublishedVerdict]?
    /// Whether pins of issuers let in whatever the authority may issue next; absent if clients do not depend on them.
    var issuerPins: IssuerPinReport?
    /// What is unusual about the order of the chain, and what was not checked.
    var remarks: [String]?
    var failure: Failure?
    var error: Failing?

    /// Where the server was seen.
    var sightings: [Sighting] = []
    /// Which addresses were not asked and do not count; also one of the remarks.
    var notAsked: String?
    /// Whether other addresses or keys of the same host are examined as well.
    var isOneOfMany = false
    /// The valid path of the server, whether it has a pin or not.
    var path: ValidatedPath?
    /// What the server presented; nil if nothing was decided.
    var presented: PresentedChain?

    /// What there is to say about pins of issuers, in words.
    var issuerPinLines: [String] = []
    /// Whether the authority may issue what clients refuse.
    var isIssuerPinningIncomplete = false

    var expiresSoon: Bool {
        !(expiring ?? []).isEmpty || published?.expiresSoon == true || isIssuerPinningIncomplete
    }

    private enum CodingKeys: CodingKey {
        case outcome, host, port, address, addresses, proxy, tls, asksForClientCertificate, time, chain, anchor, rules,
            configuredPins
        case matchedPins, suggestedPins, expiring, revocationLists, published, publishedVersions, issuerPins,
            remarks, failure, error
    }

    /// Makes a report in which nothing is known yet.
    init(host: DialedHost, time: Date, pins: [Pin]) {
        self.host = host.name
        port = host.port
        self.time = time.formatted(.iso8601)
        configuredPins = pins.map(\.description)
    }

    /// A copy for a host about which nothing could be found out.
    func failing(_ failure: CommandFailure) -> CheckReport {
        var report = self
        report.error = Failing(code: failure.code.rawValue, message: failure.message)
        return report
    }

    mutating func take(_ decision: TrustDecision, validator: PathValidator, watch: ExpiryWatch?) {
        let presented = decision.chain ?? PresentedChain([])
        self.presented = presented
        // If only the pins were missing, there is a valid path nevertheless.
        let path = decision.path ?? decision.failure?.paths.first
        self.path = path
        outcome = decision.isTrusted ? .trusted : .untrusted
        time = decision.time.formatted(.iso8601)
        failure = decision.failure.map(Failure.init)
        remarks = Self.remarks(on: decision)
        matchedPins = decision.matchedPins.map(\.description)
        expiring = watch?.expiring(in: decision)

        let inPath: ((X509Certificate) -> Bool)? = path.map { path in { path.certificates.contains($0) } }
        chain = presented.certificates.enumerated().map { position, der in
            CertificateReport(der: der, position: position, inValidPath: inPath, now: decision.time)
        }
        if let der = path?.anchor?.der, !presented.certificates.contains(der) {
            anchor = CertificateReport(der: der, position: nil, inValidPath: inPath, now: decision.time)
        }
        let purpose = ValidationPurpose.server(identity: decision.host)
        rules = validator.outcomes(of: presented, for: purpose, at: decision.time).map { outcome in
            Rule(
                rule: outcome.rule, reference: outcome.reference, subject: outcome.certificate.subject.description,
                position: presented.certificates.firstIndex(of: outcome.certificate.der),
                kept: outcome.failure == nil, expected: outcome.failure?.expected, found: outcome.failure?.found)
        }
        guard !(decision.isTrusted && !decision.configuredPins.isEmpty) else { return }
        let pinned = path?.certificates ?? presented.certificates.compactMap { try? X509Certificate(der: $0) }
        suggestedPins = pinned.map { certificate in
            SuggestedPin(
                pin: certificate.publicKeyPin.description, subject: certificate.subject.description,
                inValidPath: path != nil)
        }
    }
}

extension CheckReport {
    /// What was not checked because the evidence is too old; nil if everything was checked.
    private static func remarks(on decision: TrustDecision) -> [String]? {
        let remarks = decision.notices.filter { $0.code == .transparencyNotEnforced }
            .map { "timestamps were not required: expected \($0.expected), found \($0.found)" }
        return remarks.isEmpty ? nil : remarks
    }

    /// Where it was seen, in words.
    private var seenAt: String? {
        if let addresses { "at \(addresses.joined(separator: ", "))" } else { address.map { "at \($0)" } }
    }

    func print(to output: Output) {
        let details = [seenAt, proxy.map { "through the proxy \($0)" }, tls].compactMap(\.self)
            .joined(separator: ", ")
        output.line(.init(server, .heading), .init(details.isEmpty ? "" : " \(details)"))
        printVerdict(to: output)
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
        output.line("Add the pin of a backup key that is kept elsewhere: holdfastctl pin backup.pem", .faint)
    }
}

extension ExpiryWatch.Expiring {
    /// One line with the certificate and its end.
    var text: String {
        let place = position.map { "certificate \($0)" } ?? "the anchor"
        let pin = hasConfiguredPin ? ", which has a configured pin," : ""
        return "\(place) (\(subject))\(pin) \(notAfter), \(DaysLeft.text(daysLeft))"
    }
}
