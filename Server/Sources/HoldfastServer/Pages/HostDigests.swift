import Holdfast

/// What was said about keys or certificates of a host: the digests, and when that was said.
struct HostDigests: Sendable, Hashable {
    /// A digest, and when something was said about it, in seconds since 1970.
    struct Said: Sendable, Hashable {
        let digest: Digest
        let time: Int64
    }

    let place: AppFacts.Place
    /// The newest first.
    let digests: [Said]

    /// More hosts than people look through at a time.
    static let maximumCount = 64

    /// Puts together what the audit says about each host, the one with the newest first.
    /// - Parameter names: the host's label and a digest each, and when that was said.
    static func all(_ names: [Ledger.Name: Int64]) -> [HostDigests] {
        var places: [AppFacts.Place: [Said]] = [:]
        for (name, time) in names {
            let bytes = name.name.utf8
            guard let space = bytes.lastIndex(of: UInt8(ascii: " ")),
                let place = AppFacts.Place(label: bytes[..<space]),
                let digest = Digest(hex: bytes[bytes.index(after: space)...])
            else { continue }
            places[place, default: []].append(Said(digest: digest, time: time))
        }
        return places.map { place, digests in
            HostDigests(
                place: place, digests: digests.sorted { ($0.time, "\($1.digest)") > ($1.time, "\($0.digest)") })
        }.sorted { ($0.digests.first?.time ?? 0, $1.place.label) > ($1.digests.first?.time ?? 0, $0.place.label) }
    }
}

extension Ledger.Name {
    /// Whether an alarm or a reminder is about a host.
    func isAbout(_ host: CatalogHost) -> Bool { name.utf8.starts(with: "\(host.label) ".utf8) }
}

extension Catalog {
    /// More chains than a host shows in that time.
    private static let maximumChainCount: Int64 = 64

    /// The keys and certificates of a host that raised an alarm, and that nothing which is published or announced now has.
    static func openAlarms(
        _ said: HostDigests, on host: CatalogHost, of app: AppName, pins: ContentHost?, at now: Int64,
        _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [Digest] {
        let published = pins?.digests ?? []
        var open = said.digests.filter { !published.contains($0.digest) }
        guard !open.isEmpty, let (id, _) = try Self.host(host.name, host.port, of: app, session, ledger) else {
            return []
        }
        let announced = try next(id, host, app, session, ledger).lasting(at: now).digests
        open.removeAll { announced.contains($0.digest) }
        if open.contains(where: { ledger.mayBeQuiet(since: $0.time, of: app, at: now) }) {
            let shown = try shownChains(id, since: now - alarmSpan, limit: maximumChainCount, session)
            let seen = Set(shown.flatMap(\.digestsOfLeaf))
            // Of a host that shows more nobody knows what it shows no more.
            if shown.count < Int(maximumChainCount) {
                open.removeAll { ledger.mayBeQuiet(since: $0.time, of: app, at: now) && !seen.contains($0.digest) }
            }
        }
        return open.map(\.digest)
    }
}

extension Ledger {
    /// Whether an alarm was raised long ago, and something was published since. What nobody has answered is never quiet.
    func mayBeQuiet(since raised: Int64, of app: AppName, at now: Int64) -> Bool {
        raised < now - Catalog.alarmSpan && publication(of: app).map { $0.time > raised } ?? false
    }
}
