import HoldfastTesting

/// A host, its documents and its clients as integers and sets: what the model of a rollover is about.
///
/// Times are ticks, and now is 0. Identities are numbers: 0 is the old key, 1 the new one, 2 the backup, and 3 one that
/// may become the next backup. Sets of them are masks.
struct RolloverFleet: Hashable {
    /// A document: the identities that it names, and the first tick at which it says nothing anymore.
    struct Document: Hashable {
        var published: Int
        var mask: Int
        var end: Int
        /// For one that a build carries: the first tick at which the build is unused; nil for one that is downloaded.
        var usedUntil: Int?
        /// Which of the fleet's streams it belongs to: other apps get those of another one.
        var stream = 0

        func admits(_ identity: Int, at tick: Int) -> Bool { mask >> identity & 1 == 1 && tick < end }
    }

    enum Kind: CaseIterable { case pinFile, list, trustServer, repository }

    static let identities = 4
    static let all = 15
    static let spare = 3
    /// The ticks that are looked at.
    static let horizon = 20
    /// An end far beyond the horizon.
    static let never = 1_000

    var kind: Kind
    var staleness: Int
    /// How many ticks before it must be done something is advised.
    var lead: Int
    var servers: [Int]
    /// Of each stream the oldest first; the last is published.
    var documents: [Document]
    /// How many are published at once, such as a list for older apps beside a repository for newer ones.
    var streams = 1
    var shipped: [Document]
    /// For each identity, the first tick at which its certificate is no longer valid.
    var ends: [Int]
    var deployable: Int
    var backups: Int
    var retiring: Int
    var target: Int?

    /// Whether a backup has to be published: for keys. A certificate is always followed by another.
    var needsSpare: Bool { kind != .list }

    /// A random fleet in the midst of whatever happened to it.
    /// - Parameter streams: how many documents are published at once; each has a history of its own.
    init(using random: inout SplitMix64, streams: Int = 1) {
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func chance(_ percent: Int) -> Bool { pick(1...100) <= percent }
        kind = Kind.allCases[pick(0...3)]
        staleness = pick(1...5)
        lead = chance(50) ? 0 : pick(1...3)
        ends = [chance(50) ? Self.never : pick(1...9), Self.never, Self.never, Self.never]
        target = chance(85) ? (chance(85) ? 1 : 2) : nil
        // Most fleets show one key, many two, some whatever comes.
        let style = pick(1...10)
        servers = (0..<pick(1...5)).map { _ in
            switch style {
            case 1...5: 0
            case 6...8: pick(0...1)
            case 9: pick(0...2)
            default: 2
            }
        }
        documents = []
        self.streams = streams
        for stream in 0..<streams {
            var published = -pick(0...3 * staleness)
            for _ in 0..<pick(1...4) where published <= 0 {
                let mask: Int =
                    switch pick(1...10) {
                    case 1...4: 0b0001
                    case 5...6: 0b0101
                    case 7: 0b0011
                    case 8: 0b0111
                    case 9: 0b0010
                    default: pick(1...7)
                    }
                let end = chance(80) ? Self.never : pick(1...10)
                documents.append(Document(published: published, mask: mask, end: end, stream: stream))
                published += pick(0...2 * staleness)
            }
        }
        shipped = []
        if chance(15) {
            let mask = chance(60) ? 0b0111 : pick(1...7)
            shipped.append(
                Document(
                    published: -50, mask: mask, end: Self.never, usedUntil: chance(50) ? Self.never : pick(1...10)))
        }
        deployable = servers.reduce(chance(80) ? 0b0111 : 0b0110) { $0 | 1 << $1 }
        if chance(25) { deployable &= ~0b0100 | servers.reduce(0) { $0 | 1 << $1 } }
        if let target { deployable |= 1 << target }
        backups = 0b1100
        retiring = target != nil || chance(30) ? 0b0001 : 0
    }

    init(
        kind: Kind, staleness: Int, lead: Int = 0, servers: [Int], documents: [Document], shipped: [Document] = [],
        ends: [Int] = Array(repeating: never, count: 4), target: Int?
    ) {
        self.kind = kind
        self.staleness = staleness
        self.lead = lead
        self.servers = servers
        self.documents = documents
        self.shipped = shipped
        self.ends = ends
        deployable = 0b0111
        backups = 0b1100
        retiring = target == nil ? 0 : 0b0001
        self.target = target
    }

    var shown: Int { servers.reduce(0) { $0 | 1 << $1 } }

    /// The document of the same stream that took the place of another; nil for what is published.
    func successor(of index: Int) -> Document? {
        documents[(index + 1)...].first { $0.stream == documents[index].stream }
    }

    /// The published document of each stream.
    var published: [Document] {
        (0..<streams).compactMap { stream in documents.last { $0.stream == stream } }
    }
}
