import Holdfast
import PinChanges
import ServerFoundation
import ServerModel
import ServerStore

/// The stored state of an app and some of its hosts. Pages evaluate nothing and read no more than they show.
struct AppFacts: Sendable {
    /// The position of a host among the hosts of its app.
    struct Place: Sendable, Hashable {
        let name: String
        let port: Int64

        /// The position before the first host.
        static let beginning = Place(name: "", port: 0)
    }

    /// The hosts to read.
    enum Choice: Sendable, Hashable {
        /// The hosts after a position, as many as a page shows.
        case some(after: Place)
        /// One host.
        case one(Place)
    }

    let app: Catalog.App
    /// The published generation; 0 before the first publication.
    let generation: Int64
    /// The published content; nil before the first publication.
    let published: Content?
    /// When it was published, in seconds since 1970.
    let publishedAt: Int64?
    /// The publications for the chosen host that clients may still hold, oldest first.
    let publications: [HostTimeline.Publication]
    let hosts: [AppSnapshot.Host]
    /// The keys of the chosen host that raised an alert because they were not announced.
    let alarms: [Digest]
    /// The number of hosts of the app.
    let hostCount: Int64
    /// The last host in ``hosts`` if more follow; otherwise nil.
    let rest: Place?
    /// The database's time, in seconds since 1970.
    let now: Int64

    private let pinned: PublishedHosts

    /// Maximum number of hosts on a page.
    static let maximumHostCount: Int64 = 25
    /// Maximum number of observations per host on a page of all hosts; one more is read.
    static let maximumPlaceCount: Int64 = 16
    /// Maximum number of observations on the page of one host; one more is read.
    static let maximumPlaceCountOfOne: Int64 = 200
    /// Maximum number of publications to read. For an app that publishes several times a day, older ones are missing,
    /// and the page shows too late a time at which all clients have a pin.
    private static let maximumPublicationCount = 32

    var name: AppName { app.name }

    /// The published pins of a host; nil if the host is not published.
    func pins(of host: CatalogHost) -> ContentHost? { pinned.pins(of: host) }

    /// Reads the stored state of an app.
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
            try Catalog.content(of: publication, app: name, in: session)
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
            // No client holds a document that was replaced longer ago.
            let isHeld = index + 1 >= all.count || all[index + 1].time >= oldest
            guard isHeld else { continue }
            let content = try Catalog.content(of: publication, app: app.name, in: session)
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
    /// The name of the host as in the audit and in links: its name, a colon, and its port.
    package var label: String { "\(name):\(port)" }

    /// Reads a label; nil for another text.
    package init?(label bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(263))
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), ContentHost.isName(bytes[..<colon]),
            let port = LineReader.number(bytes[(colon + 1)...]), (1...65_535).contains(port)
        else { return nil }
        self.init(name: String(decoding: bytes[..<colon], as: UTF8.self), port: port)
    }
}
