package import Foundation
package import Holdfast

/// All results about a host, or about one of its chains. Its fields are those of the JSON object.
package struct CheckReport: Sendable, Encodable {
    package enum Outcome: String, Sendable, Encodable {
        case trusted, untrusted
        /// There is no result; `error` states why.
        case unknown
    }

    package struct Rule: Sendable, Encodable {
        package let rule: String
        package let reference: String
        package let subject: String
        package let position: Int?
        package let kept: Bool
        package var expected: String?
        package var found: String?
    }

    package struct SuggestedPin: Sendable, Encodable {
        package let pin: String
        package let subject: String
        package let inValidPath: Bool
    }

    package struct Failure: Sendable, Encodable {
        package let code: String
        package let expected: String
        package let found: String
        package let remedy: String
        /// The whole failure, as an app would log it.
        package let text: String

        package init(_ failure: TrustFailure) {
            code = failure.code.rawValue
            expected = failure.expected
            found = failure.found
            remedy = failure.remedy
            text = failure.description
        }

        /// - Parameters:
        ///   - remedy: another remedy than that of the failure.
        ///   - text: the text of the whole failure with this remedy.
        init(_ failure: TrustFailure, remedy: String, text: String) {
            code = failure.code.rawValue
            expected = failure.expected
            found = failure.found
            self.remedy = remedy
            self.text = text
        }
    }

    package struct Failing: Sendable, Encodable {
        package let code: String
        package let message: String

        package init(code: String, message: String) {
            self.code = code
            self.message = message
        }
    }

    package var outcome = Outcome.unknown
    package let host: String
    package let port: Int?
    /// The probed address, with its port; the first one if several presented the same.
    package var address: String?
    /// All addresses that presented the same; absent if there is only one.
    package var addresses: [String]?
    /// The address of the proxy, if one was used.
    package var proxy: String?
    package var tls: String?
    /// Whether a trusted server requested the client's certificate; absent if that is unknown.
    package var asksForClientCertificate: Bool?
    /// The time of the decision, in ISO 8601.
    package var time: String
    package var chain: [CertificateReport]?
    /// The anchor of the valid path, if the server did not send it.
    package var anchor: CertificateReport?
    package var rules: [Rule]?
    package var configuredPins: [String]
    package var matchedPins: [String]?
    package var suggestedPins: [SuggestedPin]?
    /// The certificates that end too soon; absent if nothing is monitored.
    package var expiring: [ExpiryWatch.Expiring]?
    /// The revocation lists that were looked up; absent if none were.
    package var revocationLists: [RevocationLookup.Place]?
    /// The verdict of the published pins on this server; the worst of several versions. Absent without published pins.
    package var published: PublishedVerdict?
    /// The verdict of each version; absent unless there are several.
    package var publishedVersions: [PublishedVerdict]?
    /// The effect of a renewal with the same key on clients of the published pins; absent without published pins.
    package var renewal: SameKeyRenewal?
    /// The assumptions of the verdict on the published pins, one sentence each; absent without published pins.
    package var premises: [String]?
    /// Whether pins of issuers accept every certificate that the authority may issue next; absent if clients do not
    /// depend on them.
    package var issuerPins: IssuerPinReport?
    /// The hosts that report failures to a host that the same pins cover, one sentence each; absent if there are none.
    package var coveredReports: [String]?
    /// Unusual order of the chain, and checks that were skipped.
    package var remarks: [String]?
    package var failure: Failure?
    package var error: Failing?

    /// The addresses that were not probed and are ignored; also one of the remarks.
    package var notAsked: String?
    /// Whether other addresses or keys of the same host are examined as well.
    package var isOneOfMany = false
    /// The valid path of the server, whether it has a pin or not.
    package var path: ValidatedPath?
    /// The chain that the server presented; nil without a decision.
    package var presented: PresentedChain?

    /// The lines about pins of issuers, for people.
    package var issuerPinLines: [String] = []
    /// Whether the authority may issue a certificate that clients refuse.
    package var isIssuerPinningIncomplete = false

    package var expiresSoon: Bool {
        !(expiring ?? []).isEmpty || published?.expiresSoon == true || isIssuerPinningIncomplete
    }

    private enum CodingKeys: CodingKey {
        case outcome, host, port, address, addresses, proxy, tls, asksForClientCertificate, time, chain, anchor, rules,
            configuredPins
        case matchedPins, suggestedPins, expiring, revocationLists, published, publishedVersions, renewal, premises,
            issuerPins, coveredReports, remarks, failure, error
    }

    /// Makes a report without results.
    package init(host: DialedHost, time: Date, pins: [Pin]) {
        self.host = host.name
        port = host.port
        self.time = time.formatted(.iso8601)
        configuredPins = pins.map(\.description)
    }

    /// A copy for a host without results.
    package func failing(_ code: String, _ message: String) -> CheckReport {
        var report = self
        report.error = Failing(code: code, message: message)
        return report
    }

    package mutating func take(_ decision: TrustDecision, validator: PathValidator, watch: ExpiryWatch?) {
        let presented = decision.chain ?? PresentedChain([])
        self.presented = presented
        // If only the pins did not match, there is still a valid path.
        let path = decision.path ?? decision.failure?.paths.first
        self.path = path
        outcome = decision.isTrusted ? .trusted : .untrusted
        time = decision.time.formatted(.iso8601)
        failure = decision.failure.map { Failure($0, of: decision) }
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
    /// Checks that were skipped because the evidence is too old, and pins that match no key; nil without remarks.
    private static func remarks(on decision: TrustDecision) -> [String]? {
        let remarks =
            decision.notices.filter { $0.code == .transparencyNotEnforced }
            .map { "timestamps were not required: expected \($0.expected), found \($0.found)" }
            + decision.configuredPins.compactMap { pin in
                PlaceholderDigest(pin.digest).map { "\(pin) is \($0.text), a placeholder: no key has it" }
            }
        return remarks.isEmpty ? nil : remarks
    }
}
