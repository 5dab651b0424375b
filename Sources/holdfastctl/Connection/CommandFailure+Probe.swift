import Holdfast
import HoldfastProbe
import HoldfastPublishing

extension CommandFailure {
    /// The failure of a probe, with the options that may help.
    init(_ failure: ProbeFailure, advice: String? = nil) {
        var message = failure.sentence
        if let advice { message += ". \(advice)" }
        if failure.code == .handshakeFailed || failure.code == .refused {
            message +=
                ". Check that a TLS server of version 1.2 or 1.3 answers there, and that it accepts the client's "
                + "certificate (--client-cert) or asks for none."
        }
        self.init(Code(rawValue: failure.code.rawValue) ?? .unreachable, message)
    }
}

extension HostFindings {
    /// A remark that a proxy chose the address, so that other addresses are unknown; nil if no proxy did.
    var remark: String? {
        isChosenByProxy
            ? "the proxy chose the address: if the name has others, they were not asked (name them with --address)"
            : nil
    }

    /// An address that could not be probed, with the option that leaves it out; nil if all were probed.
    var commandFailure: CommandFailure? {
        failures.first.map { CommandFailure($0, advice: advice(on: $0)) }
    }

    /// The option that leaves an address out, for operators who know that no client uses it.
    func advice(on failure: ProbeFailure) -> String? {
        guard !shown.isEmpty else { return nil }
        guard failure.code != .otherKeyUnknown else {
            return
                "A server that has none sends an alert; if this one has only one kind and merely closes, say so with "
                + "--one-key-kind"
        }
        let option =
            switch familiesWithoutRoute {
            case [.ipv6] where failure.code == .unroutable: "-4"
            case [.ipv4] where failure.code == .unroutable: "-6"
            default: "--address, -4 or -6"
            }
        return "Nobody knows what clients see there; \(option) leaves it out if no client reaches it"
    }
}

extension PublishingRound.Answer {
    /// The result of a probe, for a round of a trust server.
    init(_ findings: HostFindings) {
        var paths: [ValidatedPath] = []
        var problems: [PublishingRound.Problem] = []
        let withoutRoute = findings.familiesWithoutRoute
        for sighting in findings.sightings {
            let address = sighting.address.map { "\($0.address)" }
            let place = address.flatMap { $0 == findings.host.name ? nil : "\($0): " } ?? ""
            switch sighting.result {
            case .success(let shown):
                if shown.decision.isTrusted, let path = shown.decision.path {
                    paths.append(path)
                } else {
                    let reason = shown.decision.failure.map {
                        "\($0.code.rawValue): expected \($0.expected), found \($0.found)"
                    }
                    problems.append(.init(place + (reason ?? "no validated path"), .untrusted))
                }
            case .failure(let failure):
                let isWithoutRoute = sighting.address.map { withoutRoute.contains($0.address.family) } ?? false
                let advice = failure.code == .otherKeyUnknown ? findings.advice(on: failure).map { ". \($0)" } : nil
                problems.append(
                    .init(failure.sentence + (advice ?? ""), isWithoutRoute ? .unroutable : .unreachable))
            }
        }
        self.init(paths: paths, problems: problems)
    }
}
