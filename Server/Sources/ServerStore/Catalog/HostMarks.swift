package import ServerFoundation

/// The alerts and reminders about hosts of apps, with their times. Only the newest ``maximumPerHost`` of each host are
/// kept, because servers outside our control determine how many there are.
package struct HostMarks: Sendable {
    /// Maximum number of marks per host.
    static let maximumPerHost = 64

    /// The time at which each was last raised, in seconds since 1970.
    private(set) var times: [Ledger.Name: Int64] = [:]
    /// The marks that were raised more than once.
    private(set) var repeated: Set<Ledger.Name> = []
    /// The number of different marks per app since its beginning, including those no longer kept.
    package private(set) var counts: [AppName: Int] = [:]
    /// The names of each host, by the time at which they were last raised.
    private var order: [Ledger.Name: [Ledger.Name]] = [:]

    /// Adds a mark.
    /// - Parameters:
    ///   - name: its name, with the host in it.
    ///   - host: the host.
    ///   - time: the time at which it was raised, in seconds since 1970.
    mutating func take(_ name: Ledger.Name, of host: Ledger.Name, at time: Int64) {
        var names = order[host] ?? []
        if times.updateValue(time, forKey: name) == nil {
            counts[name.app, default: 0] += 1
        } else {
            repeated.insert(name)
            names.removeAll { $0 == name }
        }
        names.append(name)
        let oldest = names.count > Self.maximumPerHost ? names.removeFirst() : nil
        order[host] = names
        if let oldest {
            times[oldest] = nil
            repeated.remove(oldest)
        }
    }

    /// The number of a host's marks that were raised after a time.
    func count(of host: Ledger.Name, since time: Int64) -> Int {
        (order[host] ?? []).count { name in times[name].map { $0 > time } ?? false }
    }
}
