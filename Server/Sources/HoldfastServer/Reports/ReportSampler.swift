/// Chooses which reports of a day are kept with their chains, so that neither whoever comes first nor whoever sends most
/// does.
///
/// A host has few places, and no two of them have the same certificate. A source draws for half of them at most. While there
/// is room each draw wins; then each wins with the same chance as every other of the day (algorithm R, Vitter 1985). What
/// more sources report draws more often.
struct ReportSampler: Sendable {
    /// How many are kept of a host in a day.
    static let maximumOfHost = 8
    /// The same for all hosts of an app.
    static let maximumOfApp = 64
    /// How often a source draws for a host in a day.
    static let maximumDraws = 4
    /// The same for all hosts of an app.
    static let maximumDrawsOfApp = 16
    /// How many sources, and hosts of each, are told apart in a day.
    static let maximumShares = 8_192

    /// What was decided about one report.
    enum Verdict: Sendable, Hashable {
        case kept
        /// It is kept in the place of another.
        case keptFor(ReportSample.Subject)
        case left
    }

    /// What a source has drawn for: a host, or all of them.
    fileprivate struct Share: Sendable, Hashable {
        let source: UInt64
        let host: String?
    }

    fileprivate struct Host: Sendable {
        var kept: [ReportSample.Subject] = []
        var draws = 0
    }

    fileprivate struct App: Sendable {
        var hosts: [String: Host] = [:]
        var count = 0
        var shares: [Share: Int] = [:]
    }

    private var apps: [AppName: App] = [:]

    /// Takes what is kept already. Who reported it is not known anymore.
    mutating func remember(_ subject: ReportSample.Subject) {
        apps[subject.app, default: App()].keep(subject)
        apps[subject.app]?.hosts[subject.host]?.draws += 1
    }

    /// Decides about a report.
    /// - Parameters:
    ///   - source: what tells its source from others.
    ///   - generator: draws.
    mutating func decide(
        _ subject: ReportSample.Subject, from source: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        apps[subject.app, default: App()].decide(subject, from: source, using: &generator)
    }
}

extension ReportSampler.App {
    fileprivate mutating func keep(_ subject: ReportSample.Subject) {
        hosts[subject.host, default: ReportSampler.Host()].kept.append(subject)
        count += 1
    }

    fileprivate mutating func decide(
        _ subject: ReportSample.Subject, from source: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReportSampler.Verdict {
        let kept = hosts[subject.host]?.kept ?? []
        guard !kept.contains(subject), takeShare(of: source, at: subject.host) else { return .left }
        hosts[subject.host, default: ReportSampler.Host()].draws += 1
        if kept.count < ReportSampler.maximumOfHost {
            guard count >= ReportSampler.maximumOfApp else {
                keep(subject)
                return .kept
            }
            // A host about which there is more to see makes room.
            let fullest = hosts.max { $0.value.kept.count < $1.value.kept.count }
            if let fullest, fullest.value.kept.count > kept.count + 1 {
                let old = remove(Int.random(in: fullest.value.kept.indices, using: &generator), of: fullest.key)
                keep(subject)
                return old.map { ReportSampler.Verdict.keptFor($0) } ?? .kept
            }
        }
        let index = Int.random(in: 0..<(hosts[subject.host]?.draws ?? 1), using: &generator)
        guard kept.indices.contains(index), let old = remove(index, of: subject.host) else { return .left }
        keep(subject)
        return .keptFor(old)
    }

    private mutating func remove(_ index: Int, of host: String) -> ReportSample.Subject? {
        guard let old = hosts[host]?.kept.remove(at: index) else { return nil }
        count -= 1
        return old
    }

    private mutating func takeShare(of source: UInt64, at host: String) -> Bool {
        let (all, one) = (
            ReportSampler.Share(source: source, host: nil), ReportSampler.Share(source: source, host: host)
        )
        guard shares[all, default: 0] < ReportSampler.maximumDrawsOfApp,
            shares[one, default: 0] < ReportSampler.maximumDraws
        else { return false }
        // Who cannot be told apart is one of thousands, and draws like them.
        for share in [all, one] where shares[share] != nil || shares.count < ReportSampler.maximumShares {
            shares[share, default: 0] += 1
        }
        return true
    }
}
