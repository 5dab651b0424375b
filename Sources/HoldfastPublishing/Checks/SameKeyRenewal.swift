package import Foundation
import Holdfast
import HoldfastSigning

/// The clients of published pins before a certificate that is renewed with the same key: when they no longer get in.
/// Its fields are those of the JSON object.
package struct SameKeyRenewal: Sendable, Encodable {
    /// Whether every client gets in with it, now.
    package let getsIn: Bool
    /// When a client no longer does, because pins or documents end; nil if nothing ends within the time that was judged.
    package let end: Date?
    /// What ends then.
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

    /// - Parameter rows: what was judged about the renewed certificate.
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
    /// Judges certificates with the keys that were shown and a validity that never ends, so that only what pins and
    /// documents state decides. Nobody knows the issuer of a certificate to come, so pins of issuers do not match it.
    /// - Returns: the judgment of each report; nil for one without a readable leaf.
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
        // Each report is judged by itself: a host may show several keys.
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
