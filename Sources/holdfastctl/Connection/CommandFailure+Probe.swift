import Holdfast
import HoldfastProbe
import HoldfastPublishing

extension CommandFailure {
    /// What a probe could not find out, with the options that may help.
    init(_ failure: ProbeFailure) {
        var message = failure.sentence
        if failure.code == .handshakeFailed || failure.code == .refused {
            message +=
                ". Check that a TLS server of version 1.2 or 1.3 answers there (with --starttls if it begins in "
                + "plaintext), and that it accepts the client's certificate (--client-cert) or asks for none."
        }
        self.init(Code(rawValue: failure.code.rawValue) ?? .unreachable, message)
    }
}

extension HostFindings {
    /// Says of addresses to which this machine has no route that nobody knows what they show; nil if there are none.
    var remark: String? {
        guard !unroutable.isEmpty else { return nil }
        let places = unroutable.compactMap(\.address?.description).joined(separator: ", ")
        return "not asked, because this machine has no route there: \(places)"
    }
}

extension PublishingRound.Answer {
    /// What a host showed, for a round of a trust server.
    init(_ findings: HostFindings) {
        var paths: [ValidatedPath] = []
        var problems: [PublishingRound.Problem] = []
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
                problems.append(.init(failure.sentence, .unreachable))
            }
        }
        problems += findings.unroutable.compactMap(\.failure).map { .init($0.sentence, .unroutable) }
        self.init(paths: paths, problems: problems)
    }
}
