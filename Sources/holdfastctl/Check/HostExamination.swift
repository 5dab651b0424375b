import Holdfast

/// One host to check, with everything that is needed for it.
struct HostExamination: Sendable {
    let policy: any TrustPolicy
    /// The host, with its port.
    let host: DialedHost
    /// What is known before the host is asked.
    let report: CheckReport
    let watch: ExpiryWatch?
    let pins: PublishedPins?
    /// What decides later, when some of the pins have expired; nil if nothing changes.
    var later: (any TrustPolicy)?

    /// A report for each kind of key that the server has, at the first address that answers.
    func run(_ probe: ServerProbe, _ lookup: RevocationLookup) async -> [CheckReport] {
        Self.related(await reports(probe, lookup))
    }

    /// A report for each kind of key, at every address of the name.
    func runEverywhere(
        _ probe: ServerProbe, _ lookup: RevocationLookup, within limit: Duration
    ) async -> [CheckReport] {
        let places: [DialedHost?]
        do throws(CommandFailure) {
            places = try await ServerPlaces(probe: probe, resolver: .system(limit: limit)).places(of: host)
        } catch {
            return [report.failing(error)]
        }
        var reports: [CheckReport] = []
        for place in places { reports += await self.reports(probe.connecting(to: place, offering: nil), lookup) }
        return Self.related(reports)
    }

    private func reports(_ probe: ServerProbe, _ lookup: RevocationLookup) async -> [CheckReport] {
        do throws(CommandFailure) {
            var reports: [CheckReport] = []
            for var answer in try await probe.askForEachKey(policy, about: host) {
                answer.decision = await lookup.decision(after: answer.decision, by: policy, probe.validator)
                var report = report
                report.revocationLists = answer.decision.chain.flatMap(lookup.places)
                report.take(answer, validator: probe.validator, watch: watch, pins: pins)
                report.isTrustedLater = isTrustedLater(answer.decision, probe.validator)
                reports.append(report)
            }
            return reports
        } catch {
            return [report.failing(error)]
        }
    }

    /// Whether the same certificates would be trusted with the pins that are left later. The later time does not count
    /// for the certificates themselves, because they are renewed until then.
    private func isTrustedLater(_ decision: TrustDecision, _ validator: PathValidator) -> Bool? {
        guard let later, let chain = decision.chain else { return nil }
        let trust = ServerTrust(chain: chain, purpose: .server(identity: decision.host), validator: validator)
        return later.evaluate(trust, at: decision.time).isTrusted
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
