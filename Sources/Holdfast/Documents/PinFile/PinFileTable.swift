package import struct Foundation.Date

/// The requirements of a pin file by host, made once and used for every decision.
package struct PinFileTable: Sendable {
    private var index = HostPatternIndex<PinFileEntry>()

    /// - Parameters:
    ///   - end: the first instant at which every pin has expired.
    ///   - version: the version of the file, for reports.
    package init(_ hosts: [PinFile.Host], until end: Date, version: String?) {
        for host in hosts { index[host.pattern] = PinFileEntry(host, until: end, version: version) }
    }

    /// The most specific entry for a host; entries are never merged.
    package func entry(for host: DialedHost) -> PinFileEntry? { index.value(for: host) }

    /// The requirement of the file for a host.
    /// - Parameters:
    ///   - time: the time of the answer.
    ///   - age: the time for which the file has been past its end; nil if it is not.
    ///   - notices: the notices of a decision that is based on the answer.
    package func answer(
        to question: PinQuestion, at time: Date, age: Duration? = nil, notices: [TrustFailure] = []
    ) -> PinAnswer {
        guard let host = question.host else { return PinAnswer(.client, at: time, age: age, notices: notices) }
        guard let entry = entry(for: host) else {
            let failure = TrustFailure(
                .noUsablePins, expected: "an entry for \(host.name) in the pin file", found: "none",
                remedy: "Publish pins for the host; a host without pins is not trusted.")
            return PinAnswer(.none(.notCovered, failure), at: time, age: age, notices: notices)
        }
        return PinAnswer(entry.content(for: host), of: entry.facts, at: time, age: age, notices: notices)
    }
}

extension PinAnswer.Content {
    /// The answer for a client of a mutual TLS server, which has no host by which its pins could be found.
    static var client: PinAnswer.Content {
        .none(.notCovered, TrustFailure(.hostNotCovered, expected: "a server", found: "a client"))
    }
}

/// The requirements of one entry of a pin file.
package struct PinFileEntry: PinSource {
    /// The entry as it is in the file.
    package let host: PinFile.Host
    /// Its rules, with the end of the file.
    package let pins: PinSet
    /// The entry's statements in addition to the pins.
    let facts: DocumentEntry

    package init(_ host: PinFile.Host, until end: Date, version: String? = nil) {
        self.host = host
        pins = PinSet(
            known: host.pins.map { pin in
                PinRule(
                    pin.pin, at: pin.role == .leaf ? .leaf : .issuer, until: min(pin.end ?? .distantFuture, end),
                    isCandidate: pin.state == .candidate)
            },
            requirement: host.requirement, enforcement: host.enforcement, afterExpiry: host.afterExpiry)
        facts = DocumentEntry(
            host.pattern, version: version, enforcement: host.enforcement,
            pins: host.pins.map {
                DocumentEntry.NamedPin($0.pin, role: $0.role.rawValue, state: $0.state.rawValue)
            },
            end: pins.end,
            destination: host.report.map {
                DocumentEntry.Destination(
                    url: $0.url, failureFraction: $0.failureFraction.value, successFraction: $0.successFraction.value)
            })
    }

    package func answer(to question: PinQuestion) -> PinAnswer {
        guard let dialed = question.host else { return PinAnswer(.client, at: question.time) }
        return PinAnswer(content(for: dialed), of: facts, at: question.time)
    }

    func content(for dialed: DialedHost) -> PinAnswer.Content {
        if host.isRetired { return .none(.notCovered, host.retirement) }
        // If the port is unknown, the pins are required; that is no weaker than the file's requirement for the port.
        guard let port = dialed.port, !host.ports.isEmpty, !host.ports.contains(port) else { return .required(pins) }
        let ports = host.ports.map(String.init).joined(separator: " or ")
        return .none(
            .notCovered,
            TrustFailure(
                .hostNotCovered, expected: "port \(ports) of \(dialed.name)", found: "port \(port)",
                remedy: "Add the port to the host's entry, or dial one that it has."))
    }

    package var mayAdmitWithoutPins: Bool { pins.enforcement == .reportOnly }
}

extension PinFile.Host {
    var retirement: TrustFailure {
        TrustFailure(.hostRetired, expected: "a host that is in use", found: "\(pattern), which the pin file retired")
    }
}

/// Pins by the dialed host, from the most specific entry.
extension PinFile: PinSource {
    /// The entry that decides about a host; nil if no entry covers it.
    package func host(for host: DialedHost) -> Host? { table.entry(for: host)?.host }

    /// The requirement of the file for a host.
    public func answer(to question: PinQuestion) -> PinAnswer { table.answer(to: question, at: question.time) }

    /// Whether some entry is only reported on.
    public var mayAdmitWithoutPins: Bool { hosts.contains { $0.enforcement == .reportOnly } }
}

/// Two files with equal hosts and ends have equal tables.
extension PinFileTable: Hashable {
    package static func == (left: PinFileTable, right: PinFileTable) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
