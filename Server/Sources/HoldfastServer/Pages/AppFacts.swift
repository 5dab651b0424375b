import Holdfast

/// What pages show of an app and some of its hosts, as it is stored. Pages judge nothing, and read no more than they show.
struct AppFacts: Sendable {
    /// Where a host stands among those of its app.
    struct Place: Sendable, Hashable {
        let name: String
        let port: Int64

        /// Before the first.
        static let beginning = Place(name: "", port: 0)
    }

    /// Which hosts to read.
    enum Choice: Sendable, Hashable {
        /// As many as a page has room for, behind a place.
        case some(after: Place)
        /// The one at a place.
        case one(Place)
    }

    let app: Catalog.App
    /// The generation that is published; 0 for none.
    let generation: Int64
    /// What is published; nil before the first publication.
    let published: Content?
    /// When it was published, in seconds since 1970.
    let publishedAt: Int64?
    /// What was published for the host that was chosen, the oldest first, as far as anybody may still hold it.
    let publications: [HostTimeline.Publication]
    let hosts: [AppSnapshot.Host]
    /// The keys of the host that was chosen which nobody announced.
    let alarms: [Digest]
    /// How many hosts the app has.
    let hostCount: Int64
    /// The last of the hosts, if more stand behind it.
    let rest: Place?
    /// The database's time, in seconds since 1970.
    let now: Int64

    private let pinned: PublishedHosts

    /// As many hosts as a page has room for.
    static let maximumHostCount: Int64 = 25
    /// The places of a host that a page of all hosts has room for, and one more.
    static let maximumPlaceCount: Int64 = 16
    /// The places that the page of a host has room for, and one more.
    static let maximumPlaceCountOfOne: Int64 = 200
    /// Somebody who publishes several times a day has more in the time for which clients hold what is old; then pages know
    /// only the newest, and say later than it is when everybody has a pin.
    private static let maximumPublicationCount = 32

    var name: AppName { app.name }

    /// What is published for a host; nil if nothing is.
    func pins(of host: CatalogHost) -> ContentHost? { pinned.pins(of: host) }

    /// Reads what is stored about an app.
    /// - Throws: ``ServerError``; `notFound` for an app or a host that is not there.
    init(
        of name: AppName, _ choice: Choice = .some(after: .beginning), in catalog: Catalog
    ) async throws(ServerError) {
        self = try await catalog.look { session, ledger throws(ServerError) in
            try AppFacts(of: name, choice, session, ledger)
        }
    }

    private init(
        of name: AppName, _ choice: Choice, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) {
        app = try Catalog.app(name, session, ledger)
        now = max(try session.now(), ledger.latestTime)
        generation = ledger.generation(of: name)
        publishedAt = ledger.publication(of: name)?.time
        published = try ledger.publication(of: name).map { publication throws(ServerError) in
            try Catalog.content(of: publication, name, session)
        }
        pinned = PublishedHosts(published?.hosts ?? [])
        hostCount = try Catalog.hostCount(of: name, session)
        var rows: [(id: Int64, host: CatalogHost)]
        let places: Int64
        switch choice {
        case .some(let place):
            rows = try Catalog.hosts(
                of: name, after: place.name, place.port, limit: Self.maximumHostCount + 1, session, ledger)
            places = Self.maximumPlaceCount
        case .one(let place):
            guard let row = try Catalog.host(place.name, place.port, of: name, session, ledger) else {
                throw ServerError(.notFound, of: "host", expected: "a host of \(name)", found: "another")
            }
            (rows, places) = ([row], Self.maximumPlaceCountOfOne)
        }
        let hasMore = rows.count > Int(Self.maximumHostCount)
        if hasMore { rows.removeLast() }
        rest = hasMore ? rows.last.map { Place(name: $0.host.name, port: $0.host.port) } : nil
        var hosts: [AppSnapshot.Host] = []
        for (id, host) in rows {
            hosts.append(
                AppSnapshot.Host(
                    host, try Catalog.latestObservations(id, limit: places + 1, session),
                    try Catalog.next(id, host, name, session, ledger), [:], at: now))
        }
        self.hosts = hosts
        var alarms: [Digest] = []
        if choice.isOne, let host = rows.first?.host {
            for said in HostDigests.all(ledger.alarmedAt.filter { $0.key.app == name && $0.key.isAbout(host) }) {
                alarms += try Catalog.openAlarms(
                    said, on: host, of: name, pins: pinned.pins(of: host), at: now, session, ledger)
            }
        }
        self.alarms = alarms
        publications = try Self.publications(
            of: app, for: choice.isOne ? hosts.first : nil, at: now, session, ledger)
    }

    private static func publications(
        of app: Catalog.App, for host: AppSnapshot.Host?, at now: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [HostTimeline.Publication] {
        guard let host else { return [] }
        let all = ledger.apps[app.name] ?? []
        let oldest = app.settings.timing.oldestReplacement(at: now)
        var publications: [HostTimeline.Publication] = []
        for (index, publication) in all.enumerated().suffix(maximumPublicationCount) {
            // Nobody holds what was replaced longer ago.
            let isHeld = index + 1 >= all.count || all[index + 1].time >= oldest
            guard isHeld else { continue }
            let content = try Catalog.content(of: publication, app.name, session)
            publications.append(
                HostTimeline.Publication(
                    published: publication.time, end: content.end,
                    pins: PublishedHosts(content.hosts).pins(of: host.host)))
        }
        return publications
    }
}

extension AppFacts.Choice {
    fileprivate var isOne: Bool {
        if case .one = self { true } else { false }
    }
}

extension AppFacts.Place {
    /// As the audit and links name a host: its name, a colon, and its port.
    var label: String { "\(name):\(port)" }

    /// Reads a label; nil for another text.
    init?(label bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(263))
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), ContentHost.isName(bytes[..<colon]),
            let port = LineReader.number(bytes[(colon + 1)...]), (1...65_535).contains(port)
        else { return nil }
        self.init(name: String(decoding: bytes[..<colon], as: UTF8.self), port: port)
    }
}
