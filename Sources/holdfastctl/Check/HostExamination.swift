import Holdfast
import HoldfastProbe

/// One host to check, with everything that is needed for it.
struct HostExamination: Sendable {
    let policy: any TrustPolicy
    /// The host, with its port.
    let host: DialedHost
    /// What is known before the host is asked.
    let report: CheckReport
    let watch: ExpiryWatch?

    /// A report for each chain that the host shows, at any of its addresses and for each kind of key, and for each
    /// address that could not be asked.
    func run(_ probe: HostProbe, _ validator: PathValidator, _ lookup: RevocationLookup) async -> [CheckReport] {
        let findings = await probe.ask(host, policy: policy)
        var reports: [CheckReport] = []
        for sighting in findings.sightings {
            if let index = reports.firstIndex(where: { $0.isOf(sighting) }) {
                reports[index].take(anotherAddress: sighting)
            } else {
                reports.append(await report(on: sighting, of: findings, validator, lookup))
            }
        }
        if let remark = findings.remark, let first = reports.firstIndex(where: { $0.error == nil }) {
            reports[first].remarks = (reports[first].remarks ?? []) + [remark]
            reports[first].notAsked = remark
        }
        return Self.related(reports)
    }

    private func report(
        on sighting: Sighting, of findings: HostFindings, _ validator: PathValidator, _ lookup: RevocationLookup
    ) async -> CheckReport {
        var report = report
        report.sightings = [sighting]
        report.address = sighting.address?.description
        report.proxy = sighting.proxy?.description
        switch sighting.result {
        case .failure(let failure):
            return report.failing(CommandFailure(failure, advice: findings.advice(on: failure)))
        case .success(let shown):
            let decision = await lookup.decision(after: shown.decision, by: policy, validator)
            report.tls = shown.tlsVersion
            report.asksForClientCertificate = shown.asksForClientCertificate
            report.revocationLists = decision.chain.flatMap(lookup.places)
            report.take(decision, validator: validator, watch: watch)
            return report
        }
    }

    /// Marks reports of which there are several, so that each says which one it is.
    private static func related(_ reports: [CheckReport]) -> [CheckReport] {
        guard reports.count > 1 else { return reports }
        return reports.map { report in
            var report = report
            report.isOneOfMany = true
            return report
        }
    }
}

extension CheckReport {
    /// Whether another address showed the same, with the same version of TLS.
    fileprivate func isOf(_ sighting: Sighting) -> Bool {
        guard let mine = sightings.first?.shown, let other = sighting.shown else { return false }
        return mine.decision.chain == other.decision.chain && mine.tlsVersion == other.tlsVersion
            && mine.asksForClientCertificate == other.asksForClientCertificate
            && mine.decision.isTrusted == other.decision.isTrusted
    }

    fileprivate mutating func take(anotherAddress sighting: Sighting) {
        sightings.append(sighting)
        addresses = sightings.compactMap(\.address?.description)
    }
}
