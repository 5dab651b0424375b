/// Searches, breadth first, all sequences of steps of a fleet for one in which no client is ever refused. It knows
/// nothing of the advice, of documents or of certificates: only integers and sets.
struct RolloverReference {
    private static let horizon = RolloverFleet.horizon
    private static let rest = 1 << RolloverFleet.horizon - 1

    /// The relevant parts of a published document.
    private struct Published {
        /// The identities in it, and when it ends.
        var mask: Int
        var end: Int
        /// Whether it was published at this very tick, so that no client has it yet.
        var isFresh: Bool

        static let absent = Published(mask: RolloverFleet.all, end: RolloverFleet.never, isFresh: true)

        /// Everything in 15 bits: an end is 1,000 at most.
        var small: Int { mask | end << 4 | (isFresh ? 1 << 14 : 0) }

        func admits(_ identity: Int) -> Bool { mask >> identity & 1 == 1 }

        /// Whether it names just these, for as long as anybody looks.
        func isLasting(_ other: Int) -> Bool { mask == other && end >= RolloverReference.horizon }
    }

    /// The relevant parts of a fleet at a tick.
    private struct State: Hashable {
        var tick: Int
        /// The identities that some server shows.
        var shown: Int
        /// The published document of each stream; for a stream that the fleet lacks, one that refuses nothing.
        var current: Published
        var beside: Published
        /// For each identity, the ticks (as bits) at which all clients with another document let it in: two in a word.
        var others: (Int, Int)

        func others(_ identity: Int) -> Int {
            (identity & 2 == 0 ? others.0 : others.1) >> (identity & 1 * 32) & rest
        }

        mutating func restrict(_ identity: Int, to ticks: Int) {
            let mask = ~((~ticks & rest) << (identity & 1 * 32))
            if identity & 2 == 0 { others.0 &= mask } else { others.1 &= mask }
        }

        private var small: Int { tick | shown << 8 | current.small << 16 | beside.small << 32 }

        static func == (left: State, right: State) -> Bool {
            left.others.0 == right.others.0 && left.others.1 == right.others.1 && left.small == right.small
        }

        func hash(into hasher: inout Hasher) {
            // Not `&*`, for which the compiler may pick a declaration that needs iOS 18.
            let product = small.multipliedReportingOverflow(by: 0x9E37_79B9_7F4A_7C1).partialValue
            hasher.combine(product ^ others.0 ^ others.1 << 7)
        }
    }

    private let fleet: RolloverFleet
    /// Whether one document is published.
    private var isAlone: Bool { fleet.streams == 1 }
    /// The identities that all servers are to show, one of them; 0 for any.
    private let target: Int
    /// The sets that may be published.
    private let masks: [Int]

    /// - Parameter isExhaustive: whether every set of identities is tried for publishing. Otherwise only the largest,
    ///   and the largest without what is to be withdrawn: no client was ever refused because a document names more.
    init(_ fleet: RolloverFleet, isExhaustive: Bool = false) {
        self.fleet = fleet
        target = fleet.target.map { 1 << $0 } ?? 0
        let clean = RolloverFleet.all & ~(fleet.retiring & ~target)
        masks =
            isExhaustive
            ? Array(1...RolloverFleet.all) : clean == RolloverFleet.all ? [clean] : [RolloverFleet.all, clean]
    }

    /// The least number of steps after which the change is finished, if no client need ever be refused.
    func steps() -> Int? {
        var frontier = [start]
        var seen = Set(frontier)
        var depth = 0
        while !frontier.isEmpty {
            var next: [State] = []
            for state in frontier {
                if isFinished(state) { return depth }
                for follower in followers(of: state) where seen.insert(follower).inserted { next.append(follower) }
            }
            frontier = next
            depth += 1
        }
        return nil
    }

    private static func bits(_ low: Int, _ high: Int) -> Int {
        let (low, high) = (max(0, low), min(horizon, high))
        return low < high ? (1 << high - 1) & ~(1 << low - 1) : 0
    }

    private var start: State {
        let published = fleet.published.map { Published(mask: $0.mask, end: $0.end, isFresh: $0.published == 0) }
        var state = State(
            tick: 0, shown: fleet.shown, current: published[0], beside: published.count > 1 ? published[1] : .absent,
            others: (-1, -1))
        func restrict(_ mask: Int, _ end: Int, _ last: Int) {
            for identity in 0..<RolloverFleet.identities {
                let admitted = mask >> identity & 1 == 1 ? Self.bits(0, end) : 0
                state.restrict(identity, to: admitted | ~Self.bits(0, last))
            }
        }
        for (identity, end) in fleet.ends.enumerated() { state.restrict(identity, to: Self.bits(0, end)) }
        for stream in 0..<fleet.streams {
            let history = fleet.documents.filter { $0.stream == stream }
            for (old, new) in zip(history, history.dropFirst()) where old.published < new.published {
                restrict(old.mask, old.end, new.published + fleet.staleness)
            }
        }
        for build in fleet.shipped { restrict(build.mask, build.end, build.usedUntil ?? 0) }
        return state
    }

    /// The ticks at which all clients let an identity in if nothing is published anymore.
    private func admitted(_ identity: Int, _ state: State) -> Int {
        guard state.current.admits(identity), state.beside.admits(identity) else { return 0 }
        return state.others(identity) & Self.bits(state.tick, min(state.current.end, state.beside.end))
    }

    private func isFinished(_ state: State) -> Bool {
        guard target == 0 || state.shown == target else { return false }
        let leaving = fleet.retiring & ~target & ~state.shown
        guard state.current.mask & leaving == 0, isAlone || state.beside.mask & leaving == 0 else { return false }
        let spares = state.current.mask & state.beside.mask & ~state.shown & ~fleet.retiring & ~target
        guard !fleet.needsSpare || spares != 0 else { return false }
        if target == 0, state.shown & fleet.retiring != 0 { return false }
        let rest = Self.bits(state.tick, Self.horizon)
        for identity in 0..<RolloverFleet.identities where state.shown >> identity & 1 == 1 {
            if admitted(identity, state) & rest != rest { return false }
        }
        return true
    }

    private func followers(of state: State) -> [State] {
        var followers: [State] = []
        for mask in masks where !state.current.isLasting(mask) || !isAlone && !state.beside.isLasting(mask) {
            followers.append(publishing(mask, in: state))
        }
        for identity in 0..<RolloverFleet.identities where fleet.deployable >> identity & 1 == 1 {
            let bit = 1 << identity
            func show(_ shown: Int) {
                guard shown != state.shown else { return }
                var follower = state
                follower.shown = shown
                followers.append(follower)
            }
            show(bit)
            for other in 0..<RolloverFleet.identities where state.shown >> other & 1 == 1 && other != identity {
                show(state.shown & ~(1 << other) | bit)
                if fleet.servers.count > state.shown.nonzeroBitCount { show(state.shown | bit) }
            }
        }
        // Waiting: until anything changes, as long as no client is refused.
        var open = Self.bits(state.tick, Self.horizon)
        for identity in 0..<RolloverFleet.identities where state.shown >> identity & 1 == 1 {
            open &= admitted(identity, state)
        }
        var changes = state.current.end < Self.horizon ? 1 << state.current.end : 0
        if state.beside.end < Self.horizon { changes |= 1 << state.beside.end }
        for identity in 0..<RolloverFleet.identities {
            let others = state.others(identity)
            changes |= others ^ others << 1
        }
        var tick = state.tick
        while tick + 1 < Self.horizon, open >> tick & 1 == 1 {
            tick += 1
            guard changes >> tick & 1 == 1 else { continue }
            var follower = state
            follower.tick = tick
            follower.current.isFresh = false
            follower.beside.isFresh = isAlone
            followers.append(follower)
        }
        return followers
    }

    private func publishing(_ mask: Int, in state: State) -> State {
        var follower = state
        hold(state.current, since: state.tick, in: &follower)
        hold(state.beside, since: state.tick, in: &follower)
        let next = Published(mask: mask, end: RolloverFleet.never, isFresh: true)
        follower.current = next
        follower.beside = isAlone ? .absent : next
        return follower
    }

    /// Keeps the replaced document for clients that have not asked since.
    private func hold(_ document: Published, since tick: Int, in follower: inout State) {
        guard !document.isFresh else { return }
        let held = Self.bits(tick, tick + fleet.staleness)
        for identity in 0..<RolloverFleet.identities {
            let admitted = document.admits(identity) ? Self.bits(0, document.end) : 0
            follower.restrict(identity, to: admitted | ~held)
        }
    }

    /// The least that can be lost: at each tick and server, what the fewest clients refuse. Documents that are published
    /// from now on refuse nothing.
    func leastLoss() -> Int {
        var loss = 0
        for tick in 0..<Self.horizon {
            var least: Int?
            for identity in 0..<RolloverFleet.identities
            where (fleet.deployable | fleet.shown) >> identity & 1 == 1 && tick < fleet.ends[identity] {
                let weight = weight(refusing: identity, at: tick)
                least = min(least ?? weight, weight)
            }
            loss += fleet.servers.count * (least ?? 0)
        }
        return loss
    }

    /// The weight of the clients that refuse an identity at a tick if everything was published at the beginning.
    private func weight(refusing identity: Int, at tick: Int) -> Int {
        var weight = 0
        for stream in 0..<fleet.streams {
            var next = 0
            for document in fleet.documents.reversed() where document.stream == stream {
                let live = next - document.published
                if live > 0, tick < next + fleet.staleness, !document.admits(identity, at: tick) {
                    weight += 1 + min(fleet.staleness, live) * RolloverWorld.second
                }
                next = document.published
            }
        }
        for build in fleet.shipped where tick < build.usedUntil ?? 0 && !build.admits(identity, at: tick) {
            weight += 1 + fleet.staleness * RolloverWorld.second
        }
        return weight
    }
}
