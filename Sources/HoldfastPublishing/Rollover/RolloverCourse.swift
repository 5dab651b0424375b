import Foundation

/// The identities that a server presents during a forecast, so that the fewest clients refuse it at every instant.
struct RolloverCourse {
    /// The server, as an index.
    let server: Int
    /// The identity that it presents now.
    let shown: Int
    /// For each instant of the forecast, the identity that it presents; ends when no identity is valid.
    private(set) var shows: [Int] = []

    /// - Parameter target: the identity that is presented as soon as no client refuses it.
    init(of server: Int, _ situation: RolloverSituation, _ forecast: RolloverForecast, _ target: Int?) {
        self.server = server
        shown = situation.servers[server].shows
        let ready = target.flatMap { forecast.ready($0) }
        var current = shown
        for index in forecast.instants.indices {
            let best = forecast.best[index]
            guard best < .infinity else { break }
            let costs = forecast.costs[index]
            if let target, let ready, ready <= forecast.instants[index], costs[target] == 0 {
                current = target
            } else if costs[current] > best {
                current = Self.choice(situation, forecast, target, at: index)
            }
            shows.append(current)
        }
    }

    /// The identity for an instant at which the current one costs more than necessary. Of several with the same loss it
    /// is always the same one, so that later advice names the same clients. After that, it prefers the target, then
    /// identities that other servers present, that stay best for longest, that are published, that are not retiring,
    /// and that are not backups.
    private static func choice(
        _ situation: RolloverSituation, _ forecast: RolloverForecast, _ target: Int?, at index: Int
    ) -> Int {
        func rank(_ identity: Int) -> [Int] {
            let facts = situation.identities[identity]
            return [
                -(forecast.refusing(identity, at: index).last ?? -1),
                identity == target ? 1 : 0,
                situation.servers.contains { $0.shows == identity } ? 1 : 0,
                forecast.firstBetter(than: identity, from: index) ?? .max,
                facts.isPublished ? 1 : 0,
                facts.isRetiring ? 0 : 1,
                facts.isBackup ? 0 : 1,
            ]
        }
        var found: (identity: Int, rank: [Int])?
        for identity in situation.identities.indices
        where forecast.costs[index][identity] == forecast.best[index] {
            let rank = rank(identity)
            guard let other = found?.rank, !other.lexicographicallyPrecedes(rank) else {
                found = (identity, rank)
                continue
            }
        }
        return found?.identity ?? 0
    }

    /// The index of the first instant at which it presents another identity than before, or than now.
    var change: Int? {
        var last = shown
        for (index, identity) in shows.enumerated() {
            if identity != last { return index }
            last = identity
        }
        return nil
    }

    /// The index of the first instant after now at which it presents another identity than the one for now.
    var laterChange: Int? {
        for (index, identity) in shows.enumerated() where identity != shows[0] { return index }
        return nil
    }
}
