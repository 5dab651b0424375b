package import Foundation
package import Holdfast

/// Separates the pins that are still valid at a later time from those that have expired by then, ignoring the end of
/// the whole file.
package struct TUFLastingPins: Sendable {
    /// The hosts of the file without the pins that have expired. Hosts of ``ended`` keep all their pins.
    package let hosts: [PinFile.Host]
    /// The hosts whose pins have all expired by then; with `leafAndIssuer`, all pins of one role.
    package let ended: [PinFile.Host]

    /// The hosts of ``ended`` to which no client can then connect.
    package var closed: [PinFile.Host] { ended.filter { $0.enforcement == .enforce && $0.afterExpiry == .reject } }

    /// - Parameter time: the later time.
    package init(_ file: PinFile, at time: Date) {
        var hosts: [PinFile.Host] = []
        var ended: [PinFile.Host] = []
        for host in file.hosts {
            let lasting = host.pins.filter { pin in pin.end.map { time < $0 } ?? true }
            if lasting.count == host.pins.count {
                hosts.append(host)
            } else if let rest = try? PinFile.Host(
                host.pattern, ports: host.ports, enforcement: host.enforcement, requirement: host.requirement,
                afterExpiry: host.afterExpiry, pins: lasting, report: host.report)
            {
                hosts.append(rest)
            } else {
                // With the remaining pins, the requirement could not be met.
                hosts.append(host)
                ended.append(host)
            }
        }
        (self.hosts, self.ended) = (hosts, ended)
    }
}
