/// A fleet as it changes, and all clients that connect to it at each tick.
struct RolloverWorld {
    private(set) var fleet: RolloverFleet
    private(set) var tick = 0
    /// The loss so far, in the weights of clients.
    private(set) var loss = 0
    /// The documents whose clients have been refused, as a mask: of the documents, then of the builds.
    private(set) var refused = 0

    /// Seconds in a tick.
    static let second = 6 * 3_600
    /// The first bit of builds, in masks of documents and of ages.
    static let builds = 56
    /// How many bits the ages of a stream's clients have.
    private static let ages = 10

    init(_ fleet: RolloverFleet) { self.fleet = fleet }

    // MARK: Steps

    /// Publishes the next document of every stream.
    /// - Parameter change: makes its identities of those that the published one names.
    mutating func publish(_ change: (Int) -> Int) {
        for document in fleet.published {
            fleet.documents.append(
                .init(
                    published: tick, mask: change(document.mask), end: RolloverFleet.never, stream: document.stream))
        }
    }

    mutating func deploy(_ identity: Int, on servers: [Int]) {
        for server in servers { fleet.servers[server] = identity }
    }

    /// Lets time pass, with all clients connecting all the time.
    mutating func wait(until end: Int) {
        while tick < end {
            let holders = holders
            for (index, isHeld) in holders.enumerated() where isHeld {
                let document = index < fleet.documents.count ? index : index - fleet.documents.count + Self.builds
                for identity in fleet.servers where !lets(identity, in: document, at: tick) {
                    refused |= 1 << document
                    loss += weight(document)
                }
            }
            tick += 1
        }
    }

    // MARK: Clients

    /// Whether any client holds each document, builds after the others.
    private var holders: [Bool] {
        var holders: [Bool] = []
        for (index, document) in fleet.documents.enumerated() {
            let next = fleet.successor(of: index)?.published ?? .max
            // A client of some age fetched it before the next one was there.
            holders.append(
                document.published <= tick && document.published < next
                    && (next > tick || tick < next + fleet.staleness))
        }
        for build in fleet.shipped { holders.append(tick < build.usedUntil ?? 0) }
        return holders
    }

    func lets(_ identity: Int, in document: Int, at tick: Int) -> Bool {
        guard tick < fleet.ends[identity] else { return false }
        return document < Self.builds
            ? fleet.documents[document].admits(identity, at: tick)
            : fleet.shipped[document - Self.builds].admits(identity, at: tick)
    }

    /// The weight of a document's clients: for how long it was available, up to the staleness, in seconds, plus one.
    private func weight(_ document: Int) -> Int {
        guard document < Self.builds, let next = fleet.successor(of: document) else {
            return 1 + fleet.staleness * Self.second
        }
        let live = next.published - fleet.documents[document].published
        return 1 + min(fleet.staleness, live) * Self.second
    }

    /// For each of the identities that servers show, and each tick, the clients that refuse it if nothing is published
    /// anymore: a mask of their ages, and of builds. A client of an age holds what was published so long ago.
    private func refusals(until end: Int) -> [[Int]] {
        var masks = Array(repeating: Array(repeating: 0, count: max(tick, end)), count: RolloverFleet.identities)
        let (ends, shown, staleness) = (fleet.ends, fleet.shown, fleet.staleness)
        func refuse(_ document: RolloverFleet.Document, _ mask: Int, at tick: Int) {
            for identity in 0..<RolloverFleet.identities where shown >> identity & 1 == 1 {
                guard tick >= ends[identity] || !document.admits(identity, at: tick) else { continue }
                masks[identity][tick] |= mask
            }
        }
        for (index, document) in fleet.documents.enumerated() {
            let next = fleet.successor(of: index)?.published ?? .max
            for tick in tick..<max(tick, end) {
                // It was fetched in `published ..< next`, and no longer ago than the staleness.
                let (youngest, oldest) = (max(0, tick - next + 1), min(staleness, tick - document.published))
                guard youngest <= oldest else { continue }
                let held = ((2 << oldest) - 1) & ~((1 << youngest) - 1)
                refuse(document, held << (document.stream * Self.ages), at: tick)
            }
        }
        for index in fleet.shipped.indices {
            let build = fleet.shipped[index]
            for tick in tick..<max(tick, min(end, build.usedUntil ?? 0)) {
                refuse(build, 1 << (Self.builds + index), at: tick)
            }
        }
        return masks
    }

    /// The documents, as a mask, whose clients a server refuses before a tick although it lets them in in another world,
    /// if nothing more is done in either.
    func harm(comparedTo other: RolloverWorld, until end: Int) -> Int {
        let (after, before) = (refusals(until: end), other.refusals(until: end))
        var harmed = 0
        for server in fleet.servers.indices {
            let (now, then) = (after[fleet.servers[server]], before[other.fleet.servers[server]])
            for tick in tick..<max(tick, end) where now[tick] & ~then[tick] != 0 {
                let hurt = now[tick] & ~then[tick]
                harmed |= (hurt >> Self.builds) << Self.builds
                for stream in 0..<fleet.streams {
                    for age in 0...fleet.staleness where hurt >> (stream * Self.ages + age) & 1 == 1 {
                        let held = fleet.documents.lastIndex { $0.stream == stream && $0.published <= tick - age }
                        harmed |= held.map { 1 << $0 } ?? 0
                    }
                }
            }
        }
        return harmed
    }

    // MARK: The end

    /// The identities in some published document.
    var current: Int { fleet.published.reduce(0) { $0 | $1.mask } }

    /// Whether the change is finished: every server shows what it is to show, and that and a backup are all that is
    /// published.
    var isFinished: Bool {
        for server in fleet.servers where server != fleet.target ?? server { return false }
        let target = fleet.target.map { 1 << $0 } ?? 0
        var everywhere = RolloverFleet.all
        for document in fleet.published {
            guard fleet.shown & ~document.mask == 0, document.mask & fleet.retiring & ~target & ~fleet.shown == 0
            else { return false }
            everywhere &= document.mask
        }
        return !fleet.needsSpare || everywhere & ~fleet.shown & ~fleet.retiring & ~target != 0
    }
}
