import Holdfast
import ServerFoundation
import ServerModel
import ServerStore

/// The digests of a host's keys or certificates that the audit mentions, with the time of each entry.
struct HostDigests: Sendable, Hashable {
    /// A digest and the time of its audit entry, in seconds since 1970.
    struct Said: Sendable, Hashable {
        let digest: Digest
        let time: Int64
    }

    let place: AppFacts.Place
    /// The digests, newest first.
    let digests: [Said]

    /// Maximum number of hosts examined at a time.
    static let maximumCount = 64

    /// Groups audit entries by host, the host with the newest entry first.
    /// - Parameter names: the times of the entries, by the host's label followed by a digest.
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
    /// Whether an alert or a reminder is about a host.
    func isAbout(_ host: CatalogHost) -> Bool { name.utf8.starts(with: "\(host.label) ".utf8) }
}

extension Catalog {
    /// Maximum number of chains to read; a host presents fewer in that time.
    private static let maximumChainCount: Int64 = 64

    /// The keys and certificates of a host that raised an alert, and that are neither published nor announced now.
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
            // With more chains than that, it is unknown which digests the host no longer presents.
            if shown.count < Int(maximumChainCount) {
                open.removeAll { ledger.mayBeQuiet(since: $0.time, of: app, at: now) && !seen.contains($0.digest) }
            }
        }
        return open.map(\.digest)
    }
}

extension Ledger {
    /// Whether an alert was raised long ago and a publication followed. An unanswered alert is never quiet.
    func mayBeQuiet(since raised: Int64, of app: AppName, at now: Int64) -> Bool {
        raised < now - Catalog.alarmSpan && publication(of: app).map { $0.time > raised } ?? false
    }
}
