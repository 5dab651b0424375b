package import Foundation
package import Holdfast

/// The requirements of a check for chains, in addition to the policy of the host: a path to the anchors, the status of
/// certificates, the policies under which they were issued, and timestamps of transparency logs.
package struct ChainChecking: Sendable {
    package let validator: PathValidator
    private let lookup: RevocationLookup
    private let watch: ExpiryWatch?

    /// - Parameters:
    ///   - anchors: the trusted authorities.
    ///   - lookup: the revocation lists; nil to check none.
    ///   - policies: the identifiers of certificate policies, one of which is required; empty for any.
    ///   - logs: the transparency logs whose timestamps are required (Google's list, version 3); nil to require none.
    ///   - watch: decides which ends are too soon.
    /// - Throws: ``PublishingError`` `unreadable` if the list of the logs cannot be read.
    package init(
        trusting anchors: TrustAnchors, lookup: RevocationLookup? = nil, policies: [String] = [],
        logs: (name: String, json: Data)? = nil, watch: ExpiryWatch? = nil
    ) throws(PublishingError) {
        let none = try RevocationLookup(lists: [], within: .seconds(1), fetchingWith: nil)
        self.lookup = lookup ?? none
        self.watch = watch
        validator = PathValidator(
            anchors: anchors, revocation: self.lookup.source,
            certificatePolicies: policies.isEmpty
                ? .any : CertificatePolicies(acceptable: Set(policies), requiresExplicitPolicy: true),
            transparency: try Self.transparency(logs))
    }

    private static func transparency(_ logs: (name: String, json: Data)?) throws(PublishingError) -> Transparency {
        guard let logs else { return .none }
        do throws(DocumentError) {
            return .required(try TransparencyLogList(json: logs.json))
        } catch {
            throw PublishingError(
                .unreadable, of: logs.name, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    /// Adds a policy's decision about a chain to a report.
    /// - Parameters:
    ///   - first: the decision before the revocation lists in the chain's path were fetched.
    package func take(_ first: TrustDecision, by policy: any TrustPolicy, into report: inout CheckReport) async {
        let decision = await lookup.decision(after: first, by: policy, validator)
        report.revocationLists = decision.chain.flatMap(lookup.places)
        report.take(decision, validator: validator, watch: watch)
    }

    /// Reports the decision that a client would make if a server presented the chain of a file, leaf first.
    package func report(
        on certificates: [X509Certificate], of host: DialedHost, by policy: any TrustPolicy, at time: Date
    ) async -> CheckReport {
        let trust = ServerTrust(
            chain: PresentedChain(certificates.map(\.der)), purpose: .server(identity: host), validator: validator)
        let decision = policy.evaluate(trust, at: time)
        var report = CheckReport(host: host, time: time, pins: decision.configuredPins)
        await take(decision, by: policy, into: &report)
        let remarks = (report.remarks ?? []) + Self.remarks(on: certificates)
        report.remarks = remarks.isEmpty ? nil : remarks
        return report
    }

    /// Remarks on the order. RFC 5246 7.4.2 requires that each certificate follows the one that it certifies, and
    /// allows the root to be omitted.
    private static func remarks(on certificates: [X509Certificate]) -> [String] {
        var remarks: [String] = []
        if let leaf = certificates.first, leaf.isIssuerOnly {
            remarks.append("the first certificate is an authority's; the server's own has to come first")
        }
        for (position, pair) in zip(certificates, certificates.dropFirst()).enumerated()
        where pair.0.issuer != pair.1.subject {
            remarks.append("certificate \(position + 1) did not issue certificate \(position), and some clients mind")
        }
        if certificates.count > 1, let last = certificates.last, last.isSelfIssued {
            remarks.append("certificate \(certificates.count - 1) is a root, which clients have themselves")
        }
        return remarks
    }
}
