import Holdfast
import HoldfastProbe
import HoldfastPublishing

/// One host to check, with its policy and report.
struct HostExamination: Sendable {
    let policy: any TrustPolicy
    /// The host, with its port.
    let host: DialedHost
    /// The facts that are known before the host is probed.
    let report: CheckReport

    /// A report for each chain that the host presents, at any of its addresses and for each kind of key, and for each
    /// address that could not be probed.
    func run(_ probe: HostProbe, _ checking: ChainChecking) async -> [CheckReport] {
        let findings = await probe.ask(host, policy: policy)
        var found: [(sightings: [Sighting], report: CheckReport)] = []
        for sighting in findings.sightings {
            if let index = found.firstIndex(where: { $0.sightings.first?.showsTheSame(as: sighting) == true }) {
                found[index].sightings.append(sighting)
                found[index].report.addresses = found[index].sightings.compactMap(\.address?.description)
            } else {
                found.append(([sighting], await report(on: sighting, of: findings, checking)))
            }
        }
        var reports = found.map(\.report)
        if let remark = findings.remark, let first = reports.firstIndex(where: { $0.error == nil }) {
            reports[first].remarks = (reports[first].remarks ?? []) + [remark]
            reports[first].notAsked = remark
        }
        return Self.related(reports)
    }

    private func report(
        on sighting: Sighting, of findings: HostFindings, _ checking: ChainChecking
    ) async -> CheckReport {
        var report = report
        report.address = sighting.address?.description
        report.proxy = sighting.proxy?.description
        switch sighting.result {
        case .failure(let failure):
            return report.failing(CommandFailure(failure, advice: findings.advice(on: failure)))
        case .success(let shown):
            report.tls = shown.tlsVersion
            report.asksForClientCertificate = shown.asksForClientCertificate
            await checking.take(shown.decision, by: policy, into: &report)
            return report
        }
    }

    /// Marks related reports, so that each states which address and key it is about.
    private static func related(_ reports: [CheckReport]) -> [CheckReport] {
        guard reports.count > 1 else { return reports }
        return reports.map { report in
            var report = report
            report.isOneOfMany = true
            return report
        }
    }
}

extension Sighting {
    /// Whether another address presented the same chain, with the same version of TLS.
    fileprivate func showsTheSame(as other: Sighting) -> Bool {
        guard let mine = shown, let other = other.shown else { return false }
        return mine.decision.chain == other.decision.chain && mine.tlsVersion == other.tlsVersion
            && mine.asksForClientCertificate == other.asksForClientCertificate
            && mine.decision.isTrusted == other.decision.isTrusted
    }
}
