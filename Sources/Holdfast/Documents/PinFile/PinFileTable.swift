package import struct Foundation.Date

/// What a pin file requires, by host: made once, and used for every decision.
package struct PinFileTable: Sendable {
    private var index = HostPatternIndex<PinFileEntry>()

    /// - Parameter end: the first instant at which every pin has expired.
    package init(_ hosts: [PinFile.Host], until end: Date) {
        for host in hosts { index[host.pattern] = PinFileEntry(host, until: end) }
    }

    /// The most specific entry for a host; entries are never merged.
    package func entry(for host: DialedHost) -> PinFileEntry? { index.value(for: host) }

    /// What the file requires of a host.
    package func content(for question: PinQuestion) -> PinAnswer.Content {
        guard let host = question.host else { return .client }
        guard let entry = entry(for: host) else {
            return .none(
                .notCovered,
                TrustFailure(
                    .noUsablePins, expected: "an entry for \(host.name) in the pin file", found: "none",
                    remedy: "Publish pins for the host; a host without pins is not trusted."))
        }
        return entry.content(for: host)
    }
}

extension PinAnswer.Content {
    /// A client of a mutual TLS server has no host by which its pins could be found.
    static var client: PinAnswer.Content {
        .none(.notCovered, TrustFailure(.hostNotCovered, expected: "a server", found: "a client"))
    }
}

/// What one entry of a pin file requires.
package struct PinFileEntry: PinSource {
    /// The entry as it is in the file.
    package let host: PinFile.Host
    /// Its rules, with the end of the file.
    package let pins: PinSet

    package init(_ host: PinFile.Host, until end: Date) {
        self.host = host
        pins = PinSet(
            known: host.pins.map { pin in
                PinRule(
                    pin.pin, at: pin.role == .leaf ? .leaf : .issuer, until: min(pin.end ?? .distantFuture, end),
                    isCandidate: pin.state == .candidate)
            },
            requirement: host.requirement, enforcement: host.enforcement, afterExpiry: host.afterExpiry)
    }

    package func answer(to question: PinQuestion) -> PinAnswer {
        guard let dialed = question.host else { return PinAnswer(.client, at: question.time) }
        return PinAnswer(content(for: dialed), at: question.time)
    }

    func content(for dialed: DialedHost) -> PinAnswer.Content {
        if host.isRetired { return .none(.notCovered, host.retirement) }
        // If the port is unknown, the pins are required: that is no weaker than what the file asks for the port.
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

/// Pins by the dialed host, from the entry that is the most specific.
extension PinFile: PinSource {
    /// The entry that decides about a host; nil if there is none.
    package func host(for host: DialedHost) -> Host? { table.entry(for: host)?.host }

    /// What the file requires of a host.
    public func answer(to question: PinQuestion) -> PinAnswer {
        PinAnswer(table.content(for: question), at: question.time)
    }

    /// Whether an entry is only reported on.
    public var mayAdmitWithoutPins: Bool { hosts.contains { $0.enforcement == .reportOnly } }
}

/// Two files with equal hosts and ends have equal tables.
extension PinFileTable: Hashable {
    package static func == (left: PinFileTable, right: PinFileTable) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
