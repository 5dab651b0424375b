package import Foundation
import Holdfast
import HoldfastSigning

/// The access of published pins' clients after a certificate is renewed with the same key. Its fields are those of the
/// JSON object.
package struct SameKeyRenewal: Sendable, Encodable {
    /// Whether every client can connect with it, now.
    package let getsIn: Bool
    /// When a client no longer can, because pins or documents end; nil if nothing ends within the evaluated time.
    package let end: Date?
    /// The reason for that end.
    package let cause: String?

    private enum CodingKeys: String, CodingKey {
        case getsIn, until, cause
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(getsIn, forKey: .getsIn)
        try container.encodeIfPresent(end?.formatted(.iso8601), forKey: .until)
        try container.encodeIfPresent(cause, forKey: .cause)
    }

    /// - Parameter rows: the rows about the renewed certificate.
    init(_ rows: [PublicationOutlook.Row]) {
        getsIn = !rows.isEmpty && rows.allSatisfy { $0.verdict == .in || $0.verdict == .ending }
        let first = rows.filter { $0.verdictEnd != nil }.min {
            $0.verdictEnd ?? .distantFuture < $1.verdictEnd ?? .distantFuture
        }
        end = first?.verdictEnd
        cause = first?.cause?.words
    }
}

extension PublishedOutlook {
    /// Evaluates certificates with the presented keys and unlimited validity, so that the result depends only on pins
    /// and documents. The issuer of a future certificate is unknown, so pins of issuers do not match it.
    /// - Returns: the result for each report; nil for one without a readable leaf.
    func renewals(
        of reports: [CheckReport], at now: Date, span: Duration
    ) throws(PublishingError) -> [SameKeyRenewal?] {
        let begins = now.addingTimeInterval(-1)
        let end = now.addingTimeInterval((OutlookLimits.longest * 2).inSeconds)
        var hosts: [PublicationOutlook.Host] = []
        var places: [Int?] = []
        let authority: StandInAuthority
        do throws(SigningError) {
            authority = try StandInAuthority(from: begins, until: end)
            for report in reports {
                guard report.error == nil, let der = report.presented?.certificates.first,
                    let leaf = try? X509Certificate(der: der), let host = try? DialedHost(report.host)
                else {
                    places.append(nil)
                    continue
                }
                let chain = [
                    Data(
                        try authority.certificate(
                            of: Array(leaf.subjectPublicKeyInfo), for: host, from: begins, until: end))
                ]
                places.append(hosts.count)
                hosts.append(
                    .init(
                        report.host, port: report.port,
                        shown: [.init(planned: chain, at: "the renewed certificate", from: now)]))
            }
        } catch {
            throw PublishingError(.invalidInput, of: "a served key", expected: error.expected, found: error.found)
        }
        guard !hosts.isEmpty else { return places.map { _ in nil } }
        // Each report is evaluated separately, because a host may present several keys.
        var renewals: [SameKeyRenewal?] = []
        for place in places {
            guard let place else {
                renewals.append(nil)
                continue
            }
            let inputs = PublicationOutlook.Inputs(
                documents: documents, hosts: [hosts[place]],
                platforms: [.init("any platform that trusts its issuer", anchors: [Data(authority.certificate)])],
                appVersions: appVersions, staleness: staleness, span: span, now: now)
            let outlook = try PublicationOutlook(judging: inputs)
            renewals.append(SameKeyRenewal(outlook.rows.filter { $0.counts(until: end) && $0.hostIndex != nil }))
        }
        return renewals
    }
}
