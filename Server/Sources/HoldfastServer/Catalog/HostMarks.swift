/// What was raised about the hosts of apps, and when: of each host the newest ``maximumPerHost`` only, because servers that
/// nobody here controls choose how many there are.
struct HostMarks: Sendable {
    /// The most that is kept of one host.
    static let maximumPerHost = 64

    /// When each was raised last, in seconds since 1970.
    private(set) var times: [Ledger.Name: Int64] = [:]
    /// Those that were raised more than once.
    private(set) var repeated: Set<Ledger.Name> = []
    /// How many different ones were raised for each app since its beginning, also those that are no longer kept.
    private(set) var counts: [AppName: Int] = [:]
    /// The names of each host in the order of their last raising.
    private var order: [Ledger.Name: [Ledger.Name]] = [:]

    /// Takes one.
    /// - Parameters:
    ///   - name: its name, with the host in it.
    ///   - host: the host.
    ///   - time: when it was raised, in seconds since 1970.
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

    /// How many of a host were raised after a time.
    func count(of host: Ledger.Name, since time: Int64) -> Int {
        (order[host] ?? []).count { name in times[name].map { $0 > time } ?? false }
    }
}
