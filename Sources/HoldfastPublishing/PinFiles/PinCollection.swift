package import Holdfast

/// The pins of hosts and files as one pin file, which is exported like any other, with annotations that a pin file does
/// not have.
package struct PinCollection {
    package let file: PinFile
    package let annotations: PinAnnotations

    /// The pins of a probed host.
    package struct Host {
        let dialed: DialedHost
        let pins: [PinEntry]
        let isForItsPort: Bool
        let warning: String?

        /// - Parameters:
        ///   - dialed: the host that was dialed.
        ///   - pins: the pins of its chain.
        ///   - isForItsPort: whether its port was specified, so that the pins are for no other.
        ///   - warning: a warning about them for readers, in one line.
        package init(
            _ dialed: DialedHost, pins: [PinEntry], isForItsPort: Bool = false, warning: String? = nil
        ) {
            self.dialed = dialed
            self.pins = pins
            self.isForItsPort = isForItsPort
            self.warning = warning
        }
    }

    /// - Parameters:
    ///   - reports: the pins of the probed hosts.
    ///   - others: the pins of files and authorities. Each host gets those that apply to it.
    ///   - pattern: the host or pattern that the pins are for, if it is not the probed host.
    ///   - format: the format of the export.
    package init(
        _ reports: [Host], and others: [PinEntry], for pattern: HostPattern?, as format: ExportFormat
    ) throws(PublishingError) {
        var annotations = PinAnnotations()
        var hosts: [(pattern: HostPattern, ports: [Int], pins: [PinFile.KeyPin])] = []
        // The hosts that were also named without a port, so that their pins are for every port.
        var open: Set<HostPattern> = []
        // Pins that come only from files are for one host, which must be specified.
        for report in reports.isEmpty ? [nil] : reports.map(Optional.some) {
            guard let name = pattern ?? report.map({ HostPattern($0.dialed) }) else {
                throw PublishingError(
                    .invalidInput, expected: "the host that the pins are for, which \(format.rawValue) names",
                    found: "files only", remedy: "Say which host it is.")
            }
            let index = hosts.firstIndex { $0.pattern == name } ?? hosts.count
            if index == hosts.count { hosts.append((name, [], [])) }
            if let report, let port = report.dialed.port, !hosts[index].ports.contains(port),
                format.saysPorts || format.saysEverything && report.isForItsPort
            {
                hosts[index].ports.append(port)
            }
            if format.saysEverything, report?.isForItsPort == false { open.insert(name) }
            annotations.warnings[name] = annotations.warnings[name] ?? report?.warning
            let served = Set((report?.pins ?? []).map(\.keyPin))
            let backups = report.map { report in
                PinEntry.entries(others, for: report.dialed, among: reports.map(\.dialed))
            }
            for entry in (report?.pins ?? []) + (backups ?? others) {
                // A key that the server does not present is a backup, and so is a key without a certificate.
                let standsBy = entry.isBackup || !reports.isEmpty && !served.contains(entry.keyPin)
                guard let pin = try? Pin(entry.keyPin),
                    let key = try? PinFile.KeyPin(
                        pin, role: entry.isIssuer ? .issuer : .leaf, state: standsBy ? .backup : .active)
                else {
                    throw PublishingError(
                        .invalidInput, of: entry.title, expected: "the pin of a key", found: entry.keyPin.quoted)
                }
                // Equal pins are one pin, which keeps its first title.
                guard !hosts[index].pins.contains(where: { $0.pin == pin }) else { continue }
                hosts[index].pins.append(key)
                annotations.titles[pin] = annotations.titles[pin] ?? entry.title
                annotations.keys[pin] = entry.subjectPublicKeyInfo
            }
        }
        for index in hosts.indices where open.contains(hosts[index].pattern) { hosts[index].ports = [] }
        // A DNS record is for one port. The default is that of HTTPS, as for a host to connect to.
        if !format.saysAnyPort {
            for index in hosts.indices where hosts[index].ports.isEmpty { hosts[index].ports = [443] }
        }
        self.annotations = annotations
        do throws(PinFileError) {
            file = try PinFile(
                hosts: try hosts.map { host throws(PinFileError) in
                    // In Apple's format, both the list of leaves and the list of issuers must match. If both are
                    // requested, require both.
                    let needsBoth = format.saysRoles && Set(host.pins.map(\.role)).count == 2
                    return try PinFile.Host(
                        host.pattern, ports: host.ports, requirement: needsBoth ? .oneOfEachRole : .any, pins: host.pins
                    )
                })
        } catch {
            throw PublishingError(
                .invalidDocument, of: error.field, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }
}
