extension PinFile {
    /// A host or a pattern of hosts: how each must prove its identity, or that apps must no longer connect to it.
    package struct Host: Sendable, Hashable {
        /// The hosts that the entry applies to.
        package let pattern: HostPattern
        /// The ports that it applies to, in ascending order; empty for any.
        package let ports: [Int]
        /// Whether connections to it are rejected because the host is retired.
        package let isRetired: Bool
        /// The behavior if no pin matches.
        package let enforcement: PinSet.Enforcement
        /// Which of the pins a connection must match.
        package let requirement: PinSet.Requirement
        /// The behavior after the pins have expired.
        package let afterExpiry: PinSet.ExpiryAction
        /// The pins, in the order of the file; empty for a retired host.
        package let pins: [KeyPin]
        /// The destination of failure reports, one of those that the app names; nil if failures are not reported.
        package let report: Report?

        /// Makes an entry with at most 16 ports, and with 1 to 32 pins, none twice in one role, and enough that some
        /// connection can satisfy them.
        /// - Throws: ``PinFileError`` that names the field.
        package init(
            _ pattern: HostPattern, ports: [Int] = [], enforcement: PinSet.Enforcement = .enforce,
            requirement: PinSet.Requirement = .any, afterExpiry: PinSet.ExpiryAction = .reject, pins: [KeyPin],
            report: Report? = nil
        ) throws(PinFileError) {
            try self.init(
                pattern, ports: ports, isRetired: false, enforcement: enforcement, requirement: requirement,
                afterExpiry: afterExpiry, pins: pins, report: report)
            try checkPins()
        }

        /// Makes an entry for retired hosts.
        /// - Throws: ``PinFileError`` for invalid ports.
        package static func retired(_ pattern: HostPattern, ports: [Int] = []) throws(PinFileError) -> Host {
            try Host(
                pattern, ports: ports, isRetired: true, enforcement: .enforce, requirement: .any, afterExpiry: .reject,
                pins: [], report: nil)
        }

        private init(
            _ pattern: HostPattern, ports: [Int], isRetired: Bool, enforcement: PinSet.Enforcement,
            requirement: PinSet.Requirement, afterExpiry: PinSet.ExpiryAction, pins: [KeyPin], report: Report?
        ) throws(PinFileError) {
            // A pattern over a single label needs permission, which a file cannot give.
            guard (try? HostPattern(pattern.description)) == pattern else {
                throw PinFileError(
                    .invalidHost, at: "host", expected: "a pattern over a domain of two labels or more",
                    found: pattern.description.quoted)
            }
            self.pattern = pattern
            self.ports = try Self.checked(ports)
            self.isRetired = isRetired
            self.enforcement = enforcement
            self.requirement = requirement
            self.afterExpiry = afterExpiry
            self.pins = pins
            self.report = report
        }

        /// Whether a second key exists in case one is lost: two distinct keys, one of them a backup. Candidates do not
        /// count, because they are never accepted.
        package var hasBackup: Bool {
            let accepted = pins.filter { $0.state != .candidate }
            return Set(accepted.map(\.pin)).count > 1 && accepted.contains { $0.state == .backup }
        }
    }
}

extension PinFile.Host {
    private static func checked(_ ports: [Int]) throws(PinFileError) -> [Int] {
        guard ports.count <= PinFileLimits.ports else {
            throw PinFileError(.tooMany, at: "ports", expected: "at most \(PinFileLimits.ports) ports", found: "more")
        }
        for (index, port) in ports.enumerated() {
            guard (1...65_535).contains(port), !ports[..<index].contains(port) else {
                throw PinFileError(
                    .invalidValue, at: "ports[\(index)]", expected: "a port from 1 to 65535, each once",
                    found: "\(port)")
            }
        }
        return ports.sorted()
    }

    private func checkPins() throws(PinFileError) {
        guard pins.count <= PinFileLimits.pins else {
            throw PinFileError(.tooMany, at: "pins", expected: "at most \(PinFileLimits.pins) pins", found: "more")
        }
        var seen: Set<PinFile.KeyPin.Identity> = []
        for (index, pin) in pins.enumerated() where !seen.insert(pin.identity).inserted {
            throw PinFileError(
                .duplicatePin, at: "pins[\(index)].pin", expected: "each pin once in a role", found: "\(pin.pin) twice")
        }
        let roles = Set(pins.filter { $0.state != .candidate }.map(\.role))
        guard !roles.isEmpty else {
            throw PinFileError(
                .unsatisfiable, at: "pins", expected: "at least one pin that is no candidate",
                found: pins.isEmpty ? "none" : "candidates only, which are never accepted")
        }
        guard requirement == .any || roles.count == 2 else {
            throw PinFileError(
                .unsatisfiable, at: "pins", expected: "a leaf pin and an issuer pin for leafAndIssuer",
                found: "pins of one role", remedy: "Add a pin of the other role, or require any.")
        }
    }
}

extension PinFile {
    /// The hosts without a second key; losing the first one locks every client out.
    package var hostsWithoutBackup: [HostPattern] { hosts.filter { !$0.isRetired && !$0.hasBackup }.map(\.pattern) }
}
