import Holdfast

/// The pins of hosts and files as one pin file, which is exported like any other, with annotations that a pin file does
/// not have.
struct PinCollection {
    let file: PinFile
    let annotations: PinAnnotations

    /// - Parameters:
    ///   - reports: the pins of the hosts that were asked.
    ///   - others: the pins of files and authorities. Each host gets them too.
    ///   - pattern: the host or pattern that the pins are for, if it is not the host that was asked.
    ///   - format: the format for which they are collected.
    init(
        _ reports: [PinReport], and others: [PinEntry], for pattern: HostPattern?, as format: ExportFormat
    ) throws(CommandFailure) {
        var annotations = PinAnnotations()
        var hosts: [(pattern: HostPattern, ports: [Int], pins: [PinFile.KeyPin])] = []
        // Pins that come only from files are for one host, which must be named.
        for report in reports.isEmpty ? [PinReport()] : reports {
            guard let name = pattern ?? report.dialed.map({ HostPattern($0) }) else {
                throw CommandFailure(.wrongUsage, "--format \(format.rawValue) names a host: say which with --host")
            }
            let index = hosts.firstIndex { $0.pattern == name } ?? hosts.count
            if index == hosts.count { hosts.append((name, [], [])) }
            if format.saysPorts, let port = report.dialed?.port, !hosts[index].ports.contains(port) {
                hosts[index].ports.append(port)
            }
            annotations.warnings[name] = annotations.warnings[name] ?? report.warning
            let served = Set(report.pins.map(\.keyPin))
            for entry in report.pins + others {
                // A key that the server does not show is a backup, and so is a key that is in no certificate.
                let standsBy = entry.isBackup || !reports.isEmpty && !served.contains(entry.keyPin)
                guard let pin = try? Pin(entry.keyPin),
                    let key = try? PinFile.KeyPin(
                        pin, role: entry.isIssuer ? .issuer : .leaf, state: standsBy ? .backup : .active)
                else { throw CommandFailure(.notTrusted, "a pin cannot be written: \(entry.title)") }
                // Two equal pins are one pin, which keeps its first title.
                guard !hosts[index].pins.contains(where: { $0.pin == pin }) else { continue }
                hosts[index].pins.append(key)
                annotations.titles[pin] = annotations.titles[pin] ?? entry.title
                annotations.keys[pin] = entry.subjectPublicKeyInfo
            }
        }
        // A record of DNS is for one port. Who names none means that of HTTPS, as for a host to connect to.
        if !format.saysAnyPort {
            for index in hosts.indices where hosts[index].ports.isEmpty { hosts[index].ports = [443] }
        }
        self.annotations = annotations
        do throws(PinFileError) {
            file = try PinFile(
                hosts: try hosts.map { host throws(PinFileError) in
                    // In Apple's format, both the list of leaves and the list of issuers must match. A user who asks
                    // for both gets that.
                    let needsBoth = format.saysRoles && Set(host.pins.map(\.role)).count == 2
                    return try PinFile.Host(
                        host.pattern, ports: host.ports, requirement: needsBoth ? .oneOfEachRole : .any, pins: host.pins
                    )
                })
        } catch {
            throw CommandFailure(.notTrusted, "the pins make no pin file: \(error)")
        }
    }
}
