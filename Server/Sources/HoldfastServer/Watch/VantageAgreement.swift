import Holdfast

/// What the vantages from which a host is seen agree on, for an app that asks several to agree.
///
/// A key counts as seen once enough vantages have seen it within ``Vantage/lifetime``; as long as any key that is shown has
/// not, nothing is judged by what was seen. That delays, and never removes a pin: what a single vantage sees still holds up
/// a change that would drop it.
struct VantageAgreement: Sendable, Hashable {
    /// A vantage that saw a key, and one that looked meanwhile and saw another one instead.
    struct Conflict: Sendable, Hashable {
        let vantage: String
        let key: Digest
        let other: String
        let otherKey: Digest

        /// Both, sorted.
        var vantages: [String] { [vantage, other].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

        /// The same for the same vantages and keys, whichever is named first.
        var digest: Digest {
            let sides = ["\(vantage) \(key)", "\(other) \(otherKey)"]
            return Digest(of: Array(sides.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined().utf8))
        }

        var words: String { "\(vantage) sees the key \(key), and \(other) the key \(otherKey)" }
    }

    /// Why nothing is judged by what was seen, in words; nil if enough vantages agree, or if one is enough.
    let words: String?
    /// Two vantages that see different things at the same time; nil if that is not proven.
    let conflict: Conflict?

    /// What one vantage saw.
    private struct View {
        struct Shown {
            let key: Digest
            let place: String
            let first: Int64
            let last: Int64
        }

        let vantage: String
        /// What counts still.
        var shown: [Shown] = []
        /// When it looked last.
        var latest: Int64 = .min
        /// Where nothing could be read then.
        var unreadable: Set<String> = []

        var keys: Set<Digest> { Set(shown.map(\.key)) }
        /// What it saw when it looked last.
        var latestKeys: Set<Digest> { Set(shown.filter { $0.last == latest }.map(\.key)) }
    }

    /// Compares what was seen of a host.
    /// - Parameters:
    ///   - observations: what each address showed last, from each vantage.
    ///   - count: how many vantages must agree.
    ///   - now: seconds since 1970.
    init(_ observations: [Observation], needing count: Int64, at now: Int64) {
        guard count > 1 else {
            (words, conflict) = (nil, nil)
            return
        }
        let (views, silent) = Self.views(observations, at: now)
        guard views.count >= Int(count) else {
            let names = views.isEmpty ? "nowhere" : views.map(\.vantage).joined(separator: ", ") + " only"
            let since = silent.map { "; \($0.vantage) has seen nothing since \(ClockGuard.text($0.since))" }
            words = "it was seen from \(names) within the hour, and \(count) vantages must agree\(since.joined())"
            conflict = nil
            return
        }
        var seenFrom: [Digest: [View]] = [:]
        for view in views { for key in view.keys { seenFrom[key, default: []].append(view) } }
        let doubtful = seenFrom.filter { $0.value.count < Int(count) }.sorted { "\($0.key)" < "\($1.key)" }
        conflict =
            doubtful.lazy.compactMap { key, witnesses in
                Self.conflict(about: key, witnesses, views)
            }.first
        words =
            if let conflict {
                "vantages disagree: \(conflict.words)"
            } else {
                doubtful.first.map { key, witnesses in
                    let names = witnesses.map(\.vantage).joined(separator: ", ")
                    return "the key \(key) was seen from \(names) only, and \(count) vantages must agree"
                }
            }
    }

    /// The views that count, sorted by the names of their vantages, and the vantages whose do not anymore.
    private static func views(
        _ observations: [Observation], at now: Int64
    ) -> (views: [View], silent: [(vantage: String, since: Int64)]) {
        var views: [String: View] = [:]
        var latest: [String: Int64] = [:]
        for seen in observations {
            var view = views[seen.vantage] ?? View(vantage: seen.vantage)
            view.latest = max(view.latest, seen.lastSeen)
            if seen.chain != nil { latest[seen.vantage] = max(latest[seen.vantage] ?? .min, seen.lastSeen) }
            if let leaf = seen.chain?.leaf, seen.lastSeen >= now - Vantage.lifetime {
                view.shown.append(
                    View.Shown(
                        key: Digest(of: leaf.subjectPublicKeyInfo), place: seen.address, first: seen.firstSeen,
                        last: seen.lastSeen))
            }
            views[seen.vantage] = view
        }
        for seen in observations where seen.chain == nil && seen.lastSeen == views[seen.vantage]?.latest {
            views[seen.vantage]?.unreadable.insert(seen.address)
        }
        let sorted = views.values.sorted { $0.vantage.utf8.lexicographicallyPrecedes($1.vantage.utf8) }
        var silent: [(vantage: String, since: Int64)] = []
        for view in sorted where view.shown.isEmpty {
            if let since = latest[view.vantage] { silent.append((vantage: view.vantage, since: since)) }
        }
        return (sorted.filter { !$0.shown.isEmpty }, silent)
    }

    /// Whether a vantage looked while others saw a key, and saw another one. A host that has changed its key since one of
    /// them looked is no conflict: they only have to look again.
    private static func conflict(about key: Digest, _ witnesses: [View], _ views: [View]) -> Conflict? {
        for witness in witnesses {
            let shown = witness.shown.filter { $0.key == key }
            for other in views where !other.latestKeys.isEmpty && !other.latestKeys.contains(key) {
                let isMissed = shown.contains { shown in
                    (shown.first...max(shown.first, shown.last)).contains(other.latest)
                        && !other.unreadable.contains(shown.place)
                }
                guard isMissed else { continue }
                let keys = other.latestKeys.sorted { "\($0)" < "\($1)" }
                guard let otherKey = keys.first(where: { !witness.keys.contains($0) }) ?? keys.first else { continue }
                return Conflict(vantage: witness.vantage, key: key, other: other.vantage, otherKey: otherKey)
            }
        }
        return nil
    }
}

extension AppScene.Host {
    /// What vantages agree on.
    /// - Parameters:
    ///   - settings: how many must.
    ///   - now: seconds since 1970.
    func agreement(by settings: AppSettings, at now: Int64) -> VantageAgreement {
        VantageAgreement(observations, needing: settings.vantages, at: now)
    }
}

extension AppScene {
    /// More sentences than anybody reads.
    private static let greatestHeldCount = 16

    /// The hosts about which too few vantages agree, in words.
    var held: [String] {
        let all = hosts.compactMap { host in
            host.agreement(by: app.settings, at: now).words.map { "\(host.host.label): \($0)" }
        }
        let count = all.count
        return count > Self.greatestHeldCount
            ? Array(all.prefix(Self.greatestHeldCount)) + ["and \(count - Self.greatestHeldCount) more"] : all
    }
}
